#include "kiln/codegen/lower/guards/hoist_invariant_ifs.h"

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

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

// Splits the conjuncts of `condition` into those that have to stay in a loop
// over `var`, as they use it or may not be evaluated earlier, and the others.
void SplitByVar(const Expr& condition, const Var& var, Expr* with,
                Expr* without) {
  for (const Expr& conjunct : ConjunctsOf(condition)) {
    Expr* out = UsesVar(conjunct, var) || !MayMove(conjunct) ? with : without;
    *out = Conjunction(*out, conjunct);
  }
}

// Null when nothing moves out of `loop`.
Stmt HoistFromLoop(const ForNode& loop) {
  const auto* branch = loop.body.As<IfNode>();
  if (!branch) return nullptr;
  if (branch->else_case) {
    if (UsesVar(branch->condition, loop.var) || !MayMove(branch->condition)) {
      return nullptr;
    }
    return MakeIf(branch->condition, WithBody(loop, branch->then_case),
                  WithBody(loop, branch->else_case));
  }
  Expr with, without;
  SplitByVar(branch->condition, loop.var, &with, &without);
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

Stmt Hoist(const Stmt& s) {
  Stmt below = MapChildren(s, [](const Stmt& child) { return Hoist(child); });
  Stmt moved;
  if (const auto* seq = below.As<SeqNode>()) moved = MergeNeighbours(*seq);
  if (const auto* node = below.As<AllocateNode>()) {
    moved = HoistFromAllocate(*node);
  }
  if (const auto* loop = below.As<ForNode>()) moved = HoistFromLoop(*loop);
  if (const auto* branch = below.As<IfNode>()) moved = MergeNested(*branch);
  return moved ? moved : below;
}

}  // namespace

absl::StatusOr<Function> HoistInvariantIfs(Function f) {
  f.body = Hoist(f.body);
  return f;
}

}  // namespace kiln
