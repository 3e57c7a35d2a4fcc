// Formulas become blocks, in an order in which each comes after what it reads:
// the tensors that a formula reads are added before it, each once. Every axis
// becomes a loop and a block iterator bound to it, and a reduction an init and
// an update:
//
//   C(i, j) = sum_k A(i, k) * B(k, j)
//
//   for i, j, k:  block C(v_i, v_j, v_k): init C = 0; C = C + A * B
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/te/node.h"
#include "kiln/ir/te/region.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::te {
namespace {

const TensorNode* AsTensor(const BufferNode* buffer) {
  return dynamic_cast<const TensorNode*>(buffer);
}

Expr BoundOf(DType dtype, bool lowest) {
  if (dtype.is_float()) {
    return Float(lowest ? LowestReal(dtype) : HighestReal(dtype), dtype);
  }
  return Int(lowest ? LowestInt(dtype) : HighestInt(dtype), dtype);
}

Expr Identity(Combiner combiner, DType dtype) {
  switch (combiner) {
    case Combiner::kNone:
      break;
    case Combiner::kSum:
      return Constant(0, dtype);
    case Combiner::kProd:
      return Constant(1, dtype);
    case Combiner::kMin:
      return BoundOf(dtype, /*lowest=*/false);
    case Combiner::kMax:
      return BoundOf(dtype, /*lowest=*/true);
  }
  KILN_CHECK(false) << "not a reduction";
  return nullptr;
}

// A reduction over no element is the identity: a block without iterations would
// not even begin.
Value WithoutEmptyAxes(const Value& value, DType dtype) {
  for (const IterVar& axis : value.axes) {
    const int64_t* extent = AsInt(axis.domain().extent);
    if (extent && *extent == 0) return Identity(value.combiner, dtype);
  }
  return value;
}

Expr Combine(Combiner combiner, Expr so_far, Expr next) {
  switch (combiner) {
    case Combiner::kNone:
      break;
    case Combiner::kSum:
      return next.dtype().is_bool() ? Or(so_far, next) : Add(so_far, next);
    case Combiner::kProd:
      return next.dtype().is_bool() ? And(so_far, next) : Mul(so_far, next);
    case Combiner::kMin:
      return kiln::Min(so_far, next);
    case Combiner::kMax:
      return kiln::Max(so_far, next);
  }
  KILN_CHECK(false) << "not a reduction";
  return nullptr;
}

class Builder {
 public:
  explicit Builder(std::string name) { function_.name = std::move(name); }

  absl::Status AddParam(const Tensor& tensor);
  absl::Status AddFormula(const BufferNode* buffer);
  Function Finish();

 private:
  Buffer MakePlain(const BufferNode& tensor);
  Stmt MakeNest(const TensorNode& tensor, const Buffer& out);
  Stmt MakeLoops(Stmt body, const std::vector<kiln::IterVar>& iters,
                 const std::vector<Expr>& loop_vars);

  Function function_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
  std::unordered_set<const BufferNode*> done_;
  std::unordered_map<std::string, int> block_names_;
  std::vector<Buffer> allocations_;
  std::vector<Stmt> nests_;
};

Buffer Builder::MakePlain(const BufferNode& tensor) {
  Buffer plain(CopyBufferNode(tensor));
  buffers_[&tensor] = plain;
  return plain;
}

absl::Status Builder::AddParam(const Tensor& tensor) {
  const Buffer& buffer = tensor.buffer();
  if (buffers_.count(buffer.get())) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor ", buffer->name, " is a parameter twice"));
  }
  Buffer plain = MakePlain(*buffer);
  function_.params.push_back({Var(buffer->name, DType::Handle()), plain});
  return absl::OkStatus();
}

absl::Status Builder::AddFormula(const BufferNode* buffer) {
  const TensorNode* tensor = AsTensor(buffer);
  if (!tensor || !done_.insert(buffer).second) return absl::OkStatus();
  if (!tensor->value) {
    if (buffers_.count(buffer)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("placeholder ", buffer->name,
                     " is used and is not among the parameters; add it"));
  }
  for (const BufferRegion& read : ReadRegions(tensor->value->source)) {
    KILN_RETURN_IF_ERROR(AddFormula(read.buffer.get()));
  }
  auto found = buffers_.find(buffer);
  Buffer out = found != buffers_.end() ? found->second : MakePlain(*buffer);
  if (found == buffers_.end()) allocations_.push_back(out);
  nests_.push_back(MakeNest(*tensor, out));
  return absl::OkStatus();
}

Stmt Builder::MakeLoops(Stmt body, const std::vector<kiln::IterVar>& iters,
                        const std::vector<Expr>& loop_vars) {
  for (size_t i = iters.size(); i-- > 0;) {
    ForFields loop;
    loop.id = function_.NewId();
    loop.var = Var(loop_vars[i].As<VarNode>());
    loop.min = iters[i].domain.min;
    loop.extent = iters[i].domain.extent;
    loop.body = std::move(body);
    body = MakeFor(std::move(loop));
  }
  return body;
}

Stmt Builder::MakeNest(const TensorNode& tensor, const Buffer& out) {
  const Value value = WithoutEmptyAxes(*tensor.value, out->dtype);
  BlockFields block;
  block.id = function_.NewId();
  const int repeat = block_names_[tensor.name]++;
  block.name = repeat ? absl::StrCat(tensor.name, "_", repeat) : tensor.name;
  block.annotations = tensor.annotations;
  VarMap iter_of;
  std::vector<Expr> loop_vars, out_indices;
  auto add = [&](const Var& axis, const Range& domain, IterType type) {
    Var iter("v_" + axis.name(), axis.dtype());
    iter_of[axis.get()] = iter;
    block.iters.push_back({iter, domain, type});
    loop_vars.push_back(Var(axis.name(), axis.dtype()));
  };
  for (size_t d = 0; d < tensor.axes.size(); ++d) {
    add(tensor.axes[d], {Int(0), tensor.shape[d]}, IterType::kSpatial);
    out_indices.push_back(block.iters.back().var);
  }
  for (const IterVar& axis : value.axes) {
    add(axis.var(), axis.domain(), IterType::kReduce);
  }
  const bool is_single = block.iters.empty();
  if (is_single) {
    block.iters = {{Var("vi"), {Int(0), Int(1)}, IterType::kSpatial}};
  }
  Expr source = ReplaceBuffers(Substitute(value.source, iter_of), buffers_);
  block.reads = ReadRegions(source);
  block.writes = {{out, PointRegion(out_indices)}};
  const Combiner combiner = value.combiner;
  if (combiner != Combiner::kNone) {
    block.init = MakeStore(out, Identity(combiner, out->dtype), out_indices);
    source = Combine(combiner, Load(out, out_indices), source);
  }
  block.body = MakeStore(out, source, out_indices);
  const std::vector<kiln::IterVar> iters = block.iters;
  if (is_single) {
    return MakeRealize({Int(0)}, Bool(true), MakeBlock(std::move(block)));
  }
  return MakeLoops(
      MakeRealize(loop_vars, Bool(true), MakeBlock(std::move(block))), iters,
      loop_vars);
}

Function Builder::Finish() {
  function_.attrs["tir.noalias"] = Attr(Bool(true));
  const BlockId id = function_.NewId();
  function_.body =
      MakeRoot(id, std::move(allocations_), MakeSeq(std::move(nests_)));
  return std::move(function_);
}

}  // namespace

namespace {

absl::StatusOr<int> PositionOf(const Tensor& constant,
                               const std::vector<Tensor>& params) {
  const BufferNode* buffer = constant.buffer().get();
  const TensorNode* tensor = AsTensor(buffer);
  const auto found = std::find_if(
      params.begin(), params.end(),
      [&](const Tensor& param) { return param.buffer().get() == buffer; });
  if (found != params.end() && !(tensor && tensor->value)) {
    return static_cast<int>(found - params.begin());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("layout_free_placeholders has ", buffer->name,
                   found == params.end() ? ", which is not among the parameters"
                                         : ", which is computed, not given"));
}

}  // namespace

absl::StatusOr<Function> CreatePrimFunc(
    const std::vector<Tensor>& params, std::string name,
    const std::vector<Tensor>& layout_free_placeholders) {
  std::vector<int> layout_free;
  for (const Tensor& constant : layout_free_placeholders) {
    KILN_ASSIGN_OR_RETURN(layout_free.emplace_back(),
                          PositionOf(constant, params));
  }
  Builder builder(std::move(name));
  for (const Tensor& tensor : params) {
    KILN_RETURN_IF_ERROR(builder.AddParam(tensor));
  }
  for (const Tensor& tensor : params) {
    KILN_RETURN_IF_ERROR(builder.AddFormula(tensor.buffer().get()));
  }
  Function f = builder.Finish();
  if (!layout_free.empty()) SetLayoutFree(&f, layout_free);
  return f;
}

}  // namespace kiln::te
