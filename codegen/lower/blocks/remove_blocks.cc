// One walk substitutes from the outside in. While it is inside of a block, each
// iterator stands for its binding, and each matched buffer for its source with
// the start of the region added to the indices. With i, j, r the loops,
//
//   with T.block("C"):
//     vi = T.axis.spatial(10, i * 4 + r)
//     vj = T.axis.spatial(12, j)
//     T.where(i * 4 + r < 10)
//     W = T.match_buffer(C[vi, 0:12], (1, 12), strides=("s0", "s1"))
//     W[0, vj] = A[vi, vj]
//
// becomes
//
//   if i * 4 + r < 10:
//     C[i * 4 + r + 0, j] = A[i * 4 + r, j]
//
// and s0, s1 would stand for 12 and 1, the strides of C. Bindings of inner
// blocks are written in outer iterators: these have their values by then, so
// that a chain of blocks ends in loop variables alone. A view of a view goes to
// the first source at once.
#include "kiln/codegen/lower/blocks/remove_blocks.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/lower/storage/flatten_buffers.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// A matched buffer: element [i] is element [min + i] of the trailing
// dimensions of `source`.
struct View {
  Buffer source;
  std::vector<Expr> min;
};

class BlockRemover {
 public:
  // Marks of blocks go to `f`.
  explicit BlockRemover(Function* f) : f_(f) {}

  Stmt Lower(const Stmt& s);
  const absl::Status& status() const { return status_; }

 private:
  Stmt LowerRealize(const BlockRealizeNode& realize);
  Stmt LowerFor(const ForNode& loop);
  Stmt LowerAllocate(const AllocateNode& node);
  void BindView(const MatchBufferRegion& match, const std::string& block);
  void BindSymbols(const Buffer& view, const View& resolved,
                   const std::vector<Range>& region);
  void BindVar(const Expr& symbol, const Expr& value);
  Expr Map(const Expr& e);
  std::vector<Expr> ShiftIndices(const View& view,
                                 const std::vector<Expr>& indices);

  Function* f_;
  VarMap values_;
  BufferMap buffers_;  // allocations whose shapes named block iterators
  std::unordered_map<const BufferNode*, View> views_;
  std::unordered_map<const VarNode*, std::string> addresses_;
  Analyzer analyzer_;
  absl::Status status_;
};

void BlockRemover::BindVar(const Expr& symbol, const Expr& value) {
  if (!symbol || !symbol.As<VarNode>()) return;
  values_[symbol.As<VarNode>()] = value;
}

// Gives the symbols in the type of a matched buffer their values.
void BlockRemover::BindSymbols(const Buffer& view, const View& resolved,
                               const std::vector<Range>& region) {
  const size_t skipped = region.size() - view->shape.size();
  for (size_t i = 0; i < view->shape.size(); ++i) {
    BindVar(view->shape[i], Map(region[skipped + i].extent));
  }
  const std::vector<Expr> strides = StridesOf(*resolved.source);
  const size_t extra = strides.size() - view->strides.size();
  for (size_t i = 0; i < view->strides.size(); ++i) {
    BindVar(view->strides[i], strides[extra + i]);
  }
  if (view->elem_offset && view->elem_offset.As<VarNode>()) {
    BindVar(view->elem_offset, LinearIndex(*resolved.source, resolved.min));
  }
}

void BlockRemover::BindView(const MatchBufferRegion& match,
                            const std::string& block) {
  View view{match.source.buffer, {}};
  for (const Range& range : match.source.region) {
    view.min.push_back(Map(range.min));
  }
  if (match.buffer->shape.size() > view.min.size()) {
    status_.Update(absl::InvalidArgumentError(absl::StrCat(
        "block ", block, ": matched buffer ", match.buffer->name, " has ",
        match.buffer->shape.size(), " dimensions, but its source ",
        match.source.buffer->name, " has ", view.min.size())));
    return;
  }
  if (auto outer = views_.find(view.source.get()); outer != views_.end()) {
    view = View{outer->second.source, ShiftIndices(outer->second, view.min)};
  }
  BindSymbols(match.buffer, view, match.source.region);
  if (match.buffer->data) {
    addresses_[match.buffer->data.get()] =
        absl::StrCat("block ", block, " uses the address of matched buffer ",
                     match.buffer->name,
                     ", which is not supported; access its elements instead");
  }
  views_[match.buffer.get()] = std::move(view);
}

std::vector<Expr> BlockRemover::ShiftIndices(const View& view,
                                             const std::vector<Expr>& indices) {
  std::vector<Expr> shifted = view.min;
  const size_t skipped = shifted.size() - indices.size();
  for (size_t i = 0; i < indices.size(); ++i) {
    Expr& index = shifted[skipped + i];
    index = IsZero(index) ? indices[i] : Add(index, indices[i]);
  }
  return shifted;
}

Expr BlockRemover::Map(const Expr& e) {
  if (const auto* var = e.As<VarNode>()) {
    if (auto a = addresses_.find(var); a != addresses_.end()) {
      status_.Update(absl::UnimplementedError(a->second));
    }
    auto found = values_.find(var);
    return found == values_.end() ? e : found->second;
  }
  Expr below = MapOperands(e, [&](const Expr& x) { return Map(x); });
  const auto* load = below.As<LoadNode>();
  if (!load) return below;
  if (auto view = views_.find(load->buffer.get()); view != views_.end()) {
    return Load(view->second.source, ShiftIndices(view->second, load->indices));
  }
  auto buffer = buffers_.find(load->buffer.get());
  return buffer == buffers_.end() ? below : Load(buffer->second, load->indices);
}

Stmt BlockRemover::LowerRealize(const BlockRealizeNode& realize) {
  const BlockNode& block = *realize.block;
  HandOnMarks(block, f_);
  std::vector<Expr> values;
  for (const Expr& value : realize.values) {
    values.push_back(analyzer_.Simplify(Map(value)));
  }
  const Expr predicate = analyzer_.Simplify(Map(realize.predicate));
  for (size_t i = 0; i < values.size(); ++i) {
    values_[block.iters[i].var.get()] = values[i];
  }
  for (const MatchBufferRegion& match : block.match_buffers) {
    BindView(match, block.name);
    if (!status_.ok()) return block.body;
  }
  Stmt body = Lower(block.body);
  if (IsOne(predicate)) return body;
  if (IsZero(predicate)) return MakeEvaluate(Int(0));
  return MakeIf(predicate, std::move(body));
}

Stmt BlockRemover::LowerFor(const ForNode& loop) {
  ForFields fields = loop.fields();
  fields.min = Map(fields.min);
  fields.extent = Map(fields.extent);
  analyzer_.Bind(fields.var, Range{fields.min, fields.extent});
  fields.body = Lower(fields.body);
  analyzer_.Unbind(fields.var);  // that the loop ran holds inside of it only
  return MakeFor(std::move(fields));
}

Stmt BlockRemover::LowerAllocate(const AllocateNode& node) {
  bool changed = false;
  auto map = [&](Expr& e) {
    if (!e) return;
    Expr mapped = Map(e);
    changed |= mapped != e;
    e = std::move(mapped);
  };
  Buffer buffer = EditBuffer(node.buffer, [&](BufferNode& b) {
    for (Expr& e : b.shape) map(e);
    for (Expr& e : b.strides) map(e);
    map(b.elem_offset);
  });
  if (changed) buffers_[node.buffer.get()] = buffer;
  return MakeAllocate(changed ? buffer : node.buffer, Lower(node.body),
                      node.is_view, node.annotations);
}

Stmt BlockRemover::Lower(const Stmt& s) {
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    return LowerRealize(*realize);
  }
  if (const auto* loop = s.As<ForNode>()) return LowerFor(*loop);
  if (const auto* node = s.As<AllocateNode>()) return LowerAllocate(*node);
  Stmt own = MapExprs(s, [&](const Expr& e) { return Map(e); });
  if (const auto* store = own.As<StoreNode>()) {
    if (auto view = views_.find(store->buffer.get()); view != views_.end()) {
      return MakeStore(view->second.source, store->value,
                       ShiftIndices(view->second, store->indices));
    }
    auto buffer = buffers_.find(store->buffer.get());
    if (buffer != buffers_.end()) {
      return MakeStore(buffer->second, store->value, store->indices);
    }
    return own;
  }
  return MapChildren(own, [&](const Stmt& child) { return Lower(child); });
}

}  // namespace

absl::StatusOr<Function> RemoveBlocks(Function f) {
  BlockRemover remover(&f);
  f.body = remover.Lower(f.body);
  KILN_RETURN_IF_ERROR(remover.status());
  return f;
}

}  // namespace kiln
