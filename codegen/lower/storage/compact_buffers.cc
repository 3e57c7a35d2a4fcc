// All accesses to an allocation, with the loops inside of it as domains and the
// conditions around them as constraints, give boxes; their hull is all that the
// allocation needs. In
//
//   for i in 32:
//     T[128, 64]
//     for r in 4, j in 64:
//       if j < 10: T[i*4 + r, j] = A[i*4 + r, j]
//     (the same loops read T)
//
// the rows are i*4 to i*4 + 3 and the columns 0 to 9: T becomes T[4, 10],
// accessed at [i*4 + r - i*4, j]. Every access is shifted by the same start,
// which depends on nothing that changes while the allocation lives, so two
// accesses meet after the shift if and only if they met before.
//
// An allocation that reads beyond what it writes gets those elements from an
// earlier iteration. It moves out of the loop, which changes its box, and all
// boxes are computed anew.
#include "kiln/codegen/lower/storage/compact_buffers.h"

#include <unordered_map>
#include <unordered_set>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// What the accesses of one allocation touch.
struct Touched {
  size_t loops = 0, conditions = 0, lets = 0;      // what stands outside of it
  bool is_fixed = false;                           // keep its shape
  std::vector<std::vector<IntSet>> reads, writes;  // a box for each access
};

struct Compacted {
  Buffer buffer;
  std::vector<Expr> min;
};

class Compactor {
 public:
  Stmt Run(const Stmt& body) {
    Collect(body);
    return compacted_.empty() ? body : Rebase(body);
  }
  // Allocations inside of a loop that read more than they write, so that the
  // loop has to carry what is read from one iteration to the next.
  std::vector<const BufferNode*> carried;

 private:
  void Collect(const Stmt& s);
  void CollectAllocate(const AllocateNode& node);
  void CollectIf(const IfNode& node);
  void CollectExpr(const Expr& e);
  void CollectCall(const CallNode& call);
  void Fix(const Expr& e);
  void Access(const Buffer& buffer, const std::vector<Expr>& indices,
              bool is_write);
  std::vector<IntSet> Hull(const std::vector<std::vector<IntSet>>& boxes);
  bool ReadsMoreThanItWrites(const std::vector<IntSet>& reads,
                             const std::vector<IntSet>& writes);
  void Decide(const Buffer& buffer, const Touched& touched);
  bool UsesInnerLet(const Expr& e, size_t first) const;
  Expr CompactExtent(const Range& range, const Expr& extent);

  Stmt Rebase(const Stmt& s);
  Expr Rebase(const Expr& e);
  static std::vector<Expr> Shift(const Compacted& c, std::vector<Expr> indices);

  Analyzer analyzer_;
  std::vector<std::pair<Var, Range>> loops_;
  std::vector<Expr> conditions_;
  std::vector<const VarNode*> lets_;
  std::unordered_map<const BufferNode*, Touched> touched_;
  std::unordered_map<const VarNode*, const BufferNode*> addresses_;
  std::unordered_map<const BufferNode*, Compacted> compacted_;
};

// Empty where there are no boxes.
std::vector<IntSet> Compactor::Hull(
    const std::vector<std::vector<IntSet>>& boxes) {
  if (boxes.empty()) return {};
  std::vector<IntSet> hull = boxes[0];
  for (const std::vector<IntSet>& box : boxes) {
    for (size_t i = 0; i < hull.size(); ++i) {
      hull[i] = UnionSet(hull[i], box[i], &analyzer_);
    }
  }
  return hull;
}

void Compactor::Access(const Buffer& buffer, const std::vector<Expr>& indices,
                       bool is_write) {
  auto found = touched_.find(buffer.get());
  if (found == touched_.end() || found->second.is_fixed) return;
  Touched& touched = found->second;
  for (const Expr& index : indices) {
    touched.is_fixed |= !index.dtype().is_scalar();
  }
  if (touched.is_fixed) return;
  Domains domains;
  for (size_t i = touched.loops; i < loops_.size(); ++i) {
    domains[loops_[i].first.get()] = loops_[i].second;
  }
  Expr predicate = Bool(true);
  for (size_t i = touched.conditions; i < conditions_.size(); ++i) {
    predicate =
        IsOne(predicate) ? conditions_[i] : And(predicate, conditions_[i]);
  }
  (is_write ? touched.writes : touched.reads)
      .push_back(
          EvalRegion(PointRegion(indices), domains, predicate, &analyzer_));
}

// Keeps the shape of every buffer that `e` names.
void Compactor::Fix(const Expr& e) {
  Visit(e, [&](const Expr& x) {
    if (const auto* load = x.As<LoadNode>()) {
      auto found = touched_.find(load->buffer.get());
      if (found != touched_.end()) found->second.is_fixed = true;
    }
    return true;
  });
}

void Compactor::CollectCall(const CallNode& call) {
  const Purity purity = GetIntrinsicInfo(call.op).purity;
  for (const Expr& arg : call.args) {
    if (purity != Purity::kPure) Fix(arg);
  }
  if (call.op != Intrinsic::kIfThenElse) {
    for (const Expr& arg : call.args) CollectExpr(arg);
    return;
  }
  CollectExpr(call.args[0]);
  conditions_.push_back(call.args[0]);
  CollectExpr(call.args[1]);
  conditions_.pop_back();
  CollectExpr(call.args[2]);
}

void Compactor::CollectExpr(const Expr& e) {
  if (const auto* call = e.As<CallNode>()) return CollectCall(*call);
  if (const auto* let = e.As<LetNode>()) lets_.push_back(let->var.get());
  if (const auto* load = e.As<LoadNode>()) {
    Access(load->buffer, load->indices, false);
  }
  if (const auto* var = e.As<VarNode>()) {
    auto found = addresses_.find(var);
    if (found != addresses_.end()) touched_[found->second].is_fixed = true;
  }
  ForEachOperand(e, [&](const Expr& x) { CollectExpr(x); });
}

void Compactor::CollectIf(const IfNode& node) {
  CollectExpr(node.condition);
  conditions_.push_back(node.condition);
  Collect(node.then_case);
  conditions_.pop_back();
  if (node.else_case) Collect(node.else_case);
}

void Compactor::CollectAllocate(const AllocateNode& node) {
  const Buffer& buffer = node.buffer;
  Touched start{loops_.size(), conditions_.size(), lets_.size()};
  start.is_fixed = node.is_view || !buffer->strides.empty() ||
                   buffer->elem_offset || buffer->shape.empty();
  touched_[buffer.get()] = std::move(start);
  if (buffer->data) addresses_[buffer->data.get()] = buffer.get();
  Collect(node.body);
  Decide(buffer, touched_[buffer.get()]);
  touched_.erase(buffer.get());
}

bool Compactor::UsesInnerLet(const Expr& e, size_t first) const {
  return UsesVar(e, [&](const VarNode* var) {
    for (size_t i = first; i < lets_.size(); ++i) {
      if (lets_[i] == var) return true;
    }
    return false;
  });
}

// A constant extent for a dimension of `extent` whose accesses stay in `range`;
// null when the dimension gains nothing.
Expr Compactor::CompactExtent(const Range& range, const Expr& extent) {
  const ConstBound bound = analyzer_.Bound(range.extent);
  if (bound.max == ConstBound::kPosInf || bound.max < 0) return nullptr;
  const int64_t* old = AsInt(extent);
  if (old && bound.max >= *old) return nullptr;
  return Int(bound.max);
}

bool Compactor::ReadsMoreThanItWrites(const std::vector<IntSet>& reads,
                                      const std::vector<IntSet>& writes) {
  if (writes.empty()) return false;
  for (size_t i = 0; i < reads.size(); ++i) {
    const IntSet &read = reads[i], &written = writes[i];
    if (read.min && written.min &&
        analyzer_.CanProveLess(read.min, written.min)) {
      return true;
    }
    if (read.max && written.max &&
        analyzer_.CanProveLess(written.max, read.max)) {
      return true;
    }
  }
  return false;
}

void Compactor::Decide(const Buffer& buffer, const Touched& touched) {
  if (touched.is_fixed) return;
  const std::vector<IntSet> read = Hull(touched.reads);
  const std::vector<IntSet> written = Hull(touched.writes);
  const std::vector<IntSet> box = written.empty() ? read
                                  : read.empty()  ? written
                                                  : Hull({written, read});
  if (box.empty()) return;
  if (touched.loops > 0 && ReadsMoreThanItWrites(read, written)) {
    carried.push_back(buffer.get());
  }
  Compacted result;
  bool changed = false;
  std::vector<Expr> shape = buffer->shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.min.push_back(Int(0));
    std::optional<Range> range = ToRange(box[i], &analyzer_);
    if (!range || UsesInnerLet(range->min, touched.lets)) continue;
    Expr extent = CompactExtent(*range, shape[i]);
    if (!extent) continue;
    shape[i] = extent;
    result.min.back() = analyzer_.Simplify(range->min);
    changed = true;
  }
  if (!changed) return;
  result.buffer =
      EditBuffer(buffer, [&](BufferNode& b) { b.shape = std::move(shape); });
  compacted_[buffer.get()] = std::move(result);
}

void Compactor::Collect(const Stmt& s) {
  if (const auto* node = s.As<AllocateNode>()) return CollectAllocate(*node);
  if (const auto* node = s.As<IfNode>()) return CollectIf(*node);
  ForEachExpr(s, [&](const Expr& e) { CollectExpr(e); });
  if (const auto* store = s.As<StoreNode>()) {
    Access(store->buffer, store->indices, true);
  }
  if (const auto* let = s.As<LetStmtNode>()) lets_.push_back(let->var.get());
  const auto* loop = s.As<ForNode>();
  if (loop) {
    loops_.push_back({loop->var, Range{loop->min, loop->extent}});
    analyzer_.Bind(loop->var, loops_.back().second);
  }
  ForEachChild(s, [&](const Stmt& child) { Collect(child); });
  if (loop) {
    // That the loop ran holds inside of it only.
    analyzer_.Unbind(loop->var);
    loops_.pop_back();
  }
}

std::vector<Expr> Compactor::Shift(const Compacted& c,
                                   std::vector<Expr> indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!IsZero(c.min[i])) indices[i] = Sub(indices[i], c.min[i]);
  }
  return indices;
}

Expr Compactor::Rebase(const Expr& e) {
  Expr below = MapOperands(e, [&](const Expr& x) { return Rebase(x); });
  const auto* load = below.As<LoadNode>();
  if (!load) return below;
  auto found = compacted_.find(load->buffer.get());
  if (found == compacted_.end()) return below;
  return Load(found->second.buffer, Shift(found->second, load->indices));
}

Stmt Compactor::Rebase(const Stmt& s) {
  Stmt own = MapExprs(s, [&](const Expr& e) { return Rebase(e); });
  own = MapChildren(own, [&](const Stmt& child) { return Rebase(child); });
  if (const auto* store = own.As<StoreNode>()) {
    auto found = compacted_.find(store->buffer.get());
    if (found == compacted_.end()) return own;
    return MakeStore(found->second.buffer, store->value,
                     Shift(found->second, store->indices));
  }
  if (const auto* node = own.As<AllocateNode>()) {
    auto found = compacted_.find(node->buffer.get());
    if (found == compacted_.end()) return own;
    return MakeAllocate(found->second.buffer, node->body, node->is_view,
                        node->annotations);
  }
  return own;
}

// Moves the allocations of some buffers out of the loop around each.
class Mover {
 public:
  explicit Mover(const std::vector<const BufferNode*>& buffers)
      : buffers_(buffers.begin(), buffers.end()) {}

  Stmt Run(const Stmt& s) {
    const auto* node = s.As<AllocateNode>();
    if (node && buffers_.count(node->buffer.get())) {
      Stmt body = Run(node->body);
      moving_.push_back({node->buffer, node->annotations});
      return body;
    }
    const size_t others = moving_.size();  // of statements before this one
    Stmt result = MapChildren(s, [&](const Stmt& child) { return Run(child); });
    if (!s.As<ForNode>()) return result;
    for (size_t i = others; i < moving_.size(); ++i) {
      result = MakeAllocate(moving_[i].buffer, result, false,
                            moving_[i].annotations);
    }
    moving_.erase(moving_.begin() + others, moving_.end());
    return result;
  }

 private:
  std::unordered_set<const BufferNode*> buffers_;
  struct Moving {
    Buffer buffer;
    Annotations annotations;
  };
  std::vector<Moving> moving_;
};

}  // namespace

absl::StatusOr<Function> CompactBuffers(Function f) {
  while (true) {
    Compactor compactor;
    Stmt compacted = compactor.Run(f.body);
    if (compactor.carried.empty()) {
      f.body = std::move(compacted);
      return f;
    }
    f.body = Mover(compactor.carried).Run(f.body);
  }
}

}  // namespace kiln
