#include "kiln/codegen/lower/guards/hoist_invariant_ifs.h"

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::LoopStack;

bool MayMove(const Expr& condition) {
  bool may = true;
  Visit(condition, [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    may &= e.kind() != ExprKind::kLoad;
    may &= !call || GetIntrinsicInfo(call->op).purity == Purity::kPure;
    return may;
  });
  return may;
}

// A condition that moves is evaluated where the loop has no iterations, too.
bool StaysIn(const Var& var, const LoopStack& outer, const Expr& condition) {
  return UsesVar(condition, var) || !MayMove(condition) ||
         !lower::DividesByNoZero(outer, condition);
}

// Splits the conjuncts of `condition` into those that have to stay in a loop
// over `var`, as they use it or may not be evaluated earlier, and the others.
void SplitByVar(const Expr& condition, const Var& var, const LoopStack& outer,
                Expr* with, Expr* without) {
  for (const Expr& conjunct : ConjunctsOf(condition)) {
    Expr* out = StaysIn(var, outer, conjunct) ? with : without;
    *out = Conjunction(*out, conjunct);
  }
}

// Null when nothing moves out of `loop`, which stands in the loops `outer`.
Stmt HoistFromLoop(const ForNode& loop, const LoopStack& outer) {
  const auto* branch = loop.body.As<IfNode>();
  if (!branch) return nullptr;
  if (branch->else_case) {
    if (StaysIn(loop.var, outer, branch->condition)) return nullptr;
    return MakeIf(branch->condition, WithBody(loop, branch->then_case),
                  WithBody(loop, branch->else_case));
  }
  Expr with, without;
  SplitByVar(branch->condition, loop.var, outer, &with, &without);
  if (!without) return nullptr;
  Stmt body = with ? MakeIf(with, branch->then_case) : branch->then_case;
  return MakeIf(without, WithBody(loop, std::move(body)));
}

// if a: if b: S  →  if a and b: S
Stmt MergeNested(const IfNode& outer) {
  const auto* inner = outer.then_case.As<IfNode>();
  if (!inner || outer.else_case || inner->else_case) return nullptr;
  return MakeIf(And(outer.condition, inner->condition), inner->then_case);
}

// if a: S; if a: T  →  if a: S; T
Stmt MergeNeighbours(const SeqNode& seq) {
  std::vector<Stmt> merged;
  for (const Stmt& s : seq.stmts) {
    const auto* next = s.As<IfNode>();
    const auto* last = merged.empty() ? nullptr : merged.back().As<IfNode>();
    if (next && last && !next->else_case && !last->else_case &&
        SameExpr(next->condition, last->condition) &&
        MayMove(next->condition)) {
      merged.back() =
          MakeIf(last->condition, MakeSeq({last->then_case, next->then_case}));
    } else {
      merged.push_back(s);
    }
  }
  if (merged.size() == seq.stmts.size()) return nullptr;
  return MakeSeq(std::move(merged));
}

Stmt HoistFromAllocate(const AllocateNode& node) {
  const auto* branch = node.body.As<IfNode>();
  if (!branch || branch->else_case || !MayMove(branch->condition)) {
    return nullptr;
  }
  return MakeIf(branch->condition,
                MakeAllocate(node.buffer, branch->then_case, node.is_view,
                             node.annotations));
}

Stmt Hoist(const Stmt& s, LoopStack* outer) {
  if (const auto* loop = s.As<ForNode>()) outer->push_back(loop);
  Stmt below =
      MapChildren(s, [&](const Stmt& child) { return Hoist(child, outer); });
  if (s.As<ForNode>()) outer->pop_back();
  Stmt moved;
  if (const auto* seq = below.As<SeqNode>()) moved = MergeNeighbours(*seq);
  if (const auto* node = below.As<AllocateNode>()) {
    moved = HoistFromAllocate(*node);
  }
  if (const auto* loop = below.As<ForNode>()) {
    moved = HoistFromLoop(*loop, *outer);
  }
  if (const auto* branch = below.As<IfNode>()) moved = MergeNested(*branch);
  return moved ? moved : below;
}

}  // namespace

absl::StatusOr<Function> HoistInvariantIfs(Function f) {
  LoopStack outer;
  f.body = Hoist(f.body, &outer);
  return f;
}

}  // namespace kiln
