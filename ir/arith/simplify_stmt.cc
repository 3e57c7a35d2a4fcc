// A walk over the statements keeps one context up to date. A loop variable and
// a block iterator are bound on the way down and unbound on the way up;
// conditions of branches and predicates of blocks are assumed and taken back:
//
//   for i in range(16):                     for i in range(16):
//     for j in range(8):             ->       for j in range(8):
//       A[(i * 8 + j) // 8] = 1                 A[i] = 1
//
//   for i in range(64):                     for i in range(64):
//     if i < 10:                     ->       if i < 10:
//       if i < 20: A[i] = 1                     A[i] = 1
//       else: A[0] = 1
//
// A condition that reads memory is not assumed, since a store below it may
// change what it read. A block iterator is known by its domain only, not as its
// binding, so that blocks stay separate from the loops around them. Shapes of
// buffers and annotations stay as they are, and so do statements nested below
// kMaxDepth.
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

constexpr int kMaxDepth = 400;

class StmtSimplifier {
 public:
  Stmt Simplify(const Stmt& s) {
    if (depth_ >= kMaxDepth) return s;
    ++depth_;
    Stmt result = SimplifyNode(s);
    --depth_;
    return result;
  }

 private:
  Expr Simplify(const Expr& e) { return context_.Simplify(e); }

  Stmt SimplifyNode(const Stmt& s) {
    switch (s.kind()) {
      case StmtKind::kFor:
        return SimplifyFor(s);
      case StmtKind::kBlockRealize:
        return SimplifyRealize(s);
      case StmtKind::kIf:
        return SimplifyIf(s);
      case StmtKind::kLet:
        return SimplifyLet(s);
      case StmtKind::kSeq:
      case StmtKind::kAllocate:
        return MapChildren(s, [this](const Stmt& t) { return Simplify(t); });
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        return MapExprs(s, [this](const Expr& e) { return Simplify(e); });
    }
    return s;
  }

  Stmt SimplifyFor(const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    Expr min = Simplify(loop->min), extent = Simplify(loop->extent);
    context_.BindRange(loop->var, Range{min, extent});
    Stmt body = Simplify(loop->body);
    context_.Unbind(loop->var.get());
    if (min == loop->min && extent == loop->extent && body == loop->body) {
      return s;
    }
    ForFields fields = loop->fields();
    fields.min = std::move(min);
    fields.extent = std::move(extent);
    fields.body = std::move(body);
    return MakeFor(std::move(fields));
  }

  // Assumes the conjuncts that no store below can change: those without loads.
  void AssumeLasting(const Expr& condition, bool value) {
    const auto* binary = condition.As<BinaryNode>();
    const ExprKind all = value ? ExprKind::kAnd : ExprKind::kOr;
    if (binary && condition.kind() == all) {
      AssumeLasting(binary->a, value);
      AssumeLasting(binary->b, value);
      return;
    }
    bool lasting = true;
    Visit(condition, [&](const Expr& e) {
      const auto* call = e.As<CallNode>();
      lasting = lasting && e.kind() != ExprKind::kLoad &&
                !(call && GetIntrinsicInfo(call->op).purity != Purity::kPure);
      return lasting;
    });
    if (lasting) context_.Assume(condition, value);
  }

  Stmt SimplifyRealize(const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    Expr predicate = Simplify(realize->predicate);
    bool changed = predicate != realize->predicate;
    // Values are simplified without the predicate first: where extents are
    // symbolic, the constraints that it adds can use up the work of one call.
    std::vector<Expr> values;
    for (const Expr& value : realize->values) values.push_back(Simplify(value));
    const size_t mark = context_.depth();
    AssumeLasting(predicate, true);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = Simplify(values[i]);
      changed |= values[i] != realize->values[i];
    }
    Block block = SimplifyBlock(realize->block);
    context_.UndoTo(mark);
    if (!changed && block == realize->block) return s;
    return MakeRealize(std::move(values), std::move(predicate),
                       std::move(block));
  }

  bool SimplifyRange(Range* range) {
    const Range simple{Simplify(range->min), Simplify(range->extent)};
    const bool changed =
        simple.min != range->min || simple.extent != range->extent;
    *range = simple;
    return changed;
  }

  bool SimplifyRegions(std::vector<BufferRegion>* regions) {
    bool changed = false;
    for (BufferRegion& region : *regions) {
      for (Range& range : region.region) changed |= SimplifyRange(&range);
    }
    return changed;
  }

  Block SimplifyBlock(const Block& block) {
    BlockFields fields = block->fields();
    bool changed = false;
    for (IterVar& iter : fields.iters) changed |= SimplifyRange(&iter.domain);
    for (const IterVar& iter : fields.iters) {
      context_.BindRange(iter.var, iter.domain);
    }
    changed |= SimplifyRegions(&fields.reads);
    changed |= SimplifyRegions(&fields.writes);
    for (MatchBufferRegion& match : fields.match_buffers) {
      for (Range& range : match.source.region) changed |= SimplifyRange(&range);
    }
    if (fields.init) fields.init = Simplify(fields.init);
    fields.body = Simplify(fields.body);
    changed |= fields.init != block->init || fields.body != block->body;
    for (const IterVar& iter : fields.iters) context_.Unbind(iter.var.get());
    return changed ? MakeBlock(std::move(fields)) : block;
  }

  Stmt SimplifyBranch(const Stmt& s, const Expr& condition, bool value) {
    if (!s) return s;
    const size_t mark = context_.depth();
    AssumeLasting(condition, value);
    Stmt result = Simplify(s);
    context_.UndoTo(mark);
    return result;
  }

  Stmt SimplifyIf(const Stmt& s) {
    const auto* node = s.As<IfNode>();
    Expr condition = Simplify(node->condition);
    if (const int64_t* known = AsInt(condition)) {
      const Stmt& taken = *known ? node->then_case : node->else_case;
      return taken ? Simplify(taken) : MakeEvaluate(Int(0));
    }
    Stmt then_case = SimplifyBranch(node->then_case, condition, true);
    Stmt else_case = SimplifyBranch(node->else_case, condition, false);
    if (condition == node->condition && then_case == node->then_case &&
        else_case == node->else_case) {
      return s;
    }
    return MakeIf(std::move(condition), std::move(then_case),
                  std::move(else_case));
  }

  Stmt SimplifyLet(const Stmt& s) {
    const auto* let = s.As<LetStmtNode>();
    Expr value = Simplify(let->value);
    const ConstBound bound = context_.BoundOf(value);
    int64_t extent;
    if (IsExactInt(value.dtype()) && IsFinite(bound) &&
        bound.min <= bound.max &&
        !__builtin_sub_overflow(bound.max, bound.min, &extent) &&
        extent < ConstBound::kPosInf) {
      context_.BindRange(let->var, Range{Int(bound.min, value.dtype()),
                                         Int(extent + 1, value.dtype())});
    }
    Stmt body = Simplify(let->body);
    context_.Unbind(let->var.get());
    if (value == let->value && body == let->body) return s;
    return MakeLet(let->var, std::move(value), std::move(body));
  }

  Context context_;
  int depth_ = 0;
};

}  // namespace

Stmt SimplifyStmt(const Stmt& s) { return StmtSimplifier().Simplify(s); }

}  // namespace kiln
