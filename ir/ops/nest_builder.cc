// Every loop becomes an iterator of the block, of its type:
//
//   Nest("scan", {{n}, {m, IterType::kOpaque}}, body)
//
//   for i0, i1 in T.grid(n, m):
//       with T.block("scan"):
//           v_i0, v_i1 = T.axis.remap("SO", [i0, i1])
//           body
#include "kiln/ir/ops/nest_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool IsIterOrConstant(const Expr& index, const BlockFields& block) {
  const auto* var = index.As<VarNode>();
  return AsInt(index) || std::any_of(block.iters.begin(), block.iters.end(),
                                     [&](const IterVar& iter) {
                                       return iter.var.get() == var;
                                     });
}

// Widens the region of the buffer by one more access: a dimension stays a point
// while all its indices are one iterator or one constant.
void AddAccess(const BlockFields& block, const Buffer& buffer,
               const std::vector<Expr>& indices,
               std::vector<BufferRegion>& regions) {
  auto region = std::find_if(
      regions.begin(), regions.end(),
      [&](const BufferRegion& r) { return r.buffer.get() == buffer.get(); });
  if (region == regions.end()) {
    region = regions.insert(region, {buffer, PointRegion(indices)});
  }
  for (size_t d = 0; d < indices.size(); ++d) {
    Range& range = region->region[d];
    const bool is_point = IsOne(range.extent) &&
                          SameExpr(range.min, indices[d]) &&
                          IsIterOrConstant(indices[d], block);
    if (!is_point) range = {Int(0), buffer->shape[d]};
  }
}

void AddRegions(BlockFields& block) {
  VisitExprs(block.body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (load) AddAccess(block, load->buffer, load->indices, block.reads);
    return true;
  });
  Visit(block.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (store) AddAccess(block, store->buffer, store->indices, block.writes);
    return true;
  });
}

bool IsEmptyReduction(const NestLoop& loop) {
  const int64_t* extent = AsInt(loop.extent);
  return loop.type == IterType::kReduce && extent && *extent == 0;
}

// The same loops with a single iteration where they reduced.
std::vector<NestLoop> WithoutReductions(std::vector<NestLoop> loops) {
  for (NestLoop& loop : loops) {
    if (loop.type == IterType::kReduce) loop = {Int(1), IterType::kSpatial};
  }
  return loops;
}

std::vector<Expr> AddIters(const std::vector<NestLoop>& loops,
                           BlockFields& block) {
  std::vector<Expr> iters;
  for (size_t d = 0; d < loops.size(); ++d) {
    const Var iter(absl::StrCat("v_i", d));
    block.iters.push_back({iter, {Int(0), loops[d].extent}, loops[d].type});
    iters.push_back(iter);
  }
  return iters;
}

}  // namespace

NestBuilder::NestBuilder(const std::vector<te::Tensor>& inputs) {
  function_.attrs["tir.noalias"] = Attr(Bool(true));
  for (const te::Tensor& input : inputs) {
    const Buffer& buffer = input.buffer();
    function_.params.push_back({Var(buffer->name, DType::Handle()), buffer});
  }
}

Buffer NestBuilder::Output(std::vector<Expr> shape, DType dtype,
                           std::string name) {
  Buffer buffer = MakeBuffer(name, dtype, std::move(shape));
  function_.params.push_back({Var(std::move(name), DType::Handle()), buffer});
  return buffer;
}

Buffer NestBuilder::Temporary(std::vector<Expr> shape, DType dtype,
                              std::string name) {
  temporaries_.push_back(MakeBuffer(std::move(name), dtype, std::move(shape)));
  return temporaries_.back();
}

void NestBuilder::Add(BlockFields block, const std::vector<NestLoop>& loops) {
  block.id = function_.NewId();
  AddRegions(block);
  std::vector<Expr> values;
  for (size_t d = 0; d < loops.size(); ++d) {
    values.push_back(Var(absl::StrCat("i", d)));
  }
  Stmt nest = MakeRealize(values, Bool(true), MakeBlock(std::move(block)));
  for (size_t d = loops.size(); d-- > 0;) {
    nest = MakeFor(function_.NewId(), Var(values[d].As<VarNode>()),
                   loops[d].extent, std::move(nest));
  }
  nests_.push_back(std::move(nest));
}

void NestBuilder::Nest(std::string name, const std::vector<NestLoop>& loops,
                       Body body) {
  BlockFields block;
  const std::vector<Expr> iters = AddIters(loops, block);
  block.name = std::move(name);
  block.body = body(iters);
  Add(std::move(block), loops);
}

void NestBuilder::Reduce(std::string name, const std::vector<NestLoop>& loops,
                         Body init, Body body) {
  BlockFields block;
  block.name = std::move(name);
  if (std::any_of(loops.begin(), loops.end(), IsEmptyReduction)) {
    const std::vector<NestLoop> spatial = WithoutReductions(loops);
    block.body = init(AddIters(spatial, block));
    return Add(std::move(block), spatial);
  }
  const std::vector<Expr> iters = AddIters(loops, block);
  block.init = init(iters);
  block.body = body(iters);
  Add(std::move(block), loops);
}

void NestBuilder::Fill(const Buffer& out,
                       FunctionRef<Expr(const std::vector<Expr>&)> value) {
  Nest(out->name, LoopsOver(out->shape),
       [&](const std::vector<Expr>& i) { return MakeStore(out, value(i), i); });
}

Stmt NestBuilder::Vectorized(int64_t lanes,
                             FunctionRef<Stmt(const Expr&)> body) {
  if (lanes == 1) return body(Int(0));
  const Var lane("lane");
  return MakeFor({.id = function_.NewId(),
                  .var = lane,
                  .min = Int(0),
                  .extent = Int(lanes),
                  .for_kind = ForKind::kVectorized,
                  .body = body(lane)});
}

Function NestBuilder::Finish() {
  const BlockId id = function_.NewId();
  function_.body = MakeRoot(id, temporaries_, MakeSeq(std::move(nests_)));
  return std::move(function_);
}

std::vector<NestLoop> LoopsOver(const std::vector<Expr>& extents,
                                IterType type) {
  std::vector<NestLoop> loops;
  for (const Expr& extent : extents) loops.push_back({extent, type});
  return loops;
}

}  // namespace kiln
