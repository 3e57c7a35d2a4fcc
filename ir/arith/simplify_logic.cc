// An operand of `and` is evaluated only where the ones before it hold, so it is
// simplified under them, and `or` is the same with the opposite truth. Then
// each operand is tried under all others, later ones too, and goes if they
// imply it:
//
//   f < 5 and (f < 9 and f < 3)      f < 9 follows from f < 5;
//                                    f < 5 follows from f < 3:   f < 3
//   i < 8 and A[i] < 0 and i < 3     stays
//
// The second step is left out where an operand may fault, as a load and a
// division by an unknown number do: an earlier operand may be its guard, even
// if a later one implies it. The branches of if_then_else are simplified under
// their condition; those of select are not, for both are evaluated:
//
//   if_then_else(i < 8, T.min(i, 8), 0)    if_then_else(i < 8, i, 0)
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

constexpr size_t kMaxOperands = 16;
using Operands = absl::InlinedVector<Expr, 4>;

void Flatten(ExprKind kind, const Expr& e, Operands* operands) {
  const auto* binary = e.As<BinaryNode>();
  if (e.kind() != kind || operands->size() >= kMaxOperands) {
    operands->push_back(e);
    return;
  }
  Flatten(kind, binary->a, operands);
  Flatten(kind, binary->b, operands);
}

// Whether evaluating `e` where another condition fails could go wrong.
bool MayFault(const Expr& e, int depth = 0) {
  if (depth > 32) return true;
  if (e.kind() == ExprKind::kLoad) return true;
  if (const auto* call = e.As<CallNode>()) {
    if (GetIntrinsicInfo(call->op).purity != Purity::kPure) return true;
  }
  const auto* binary = e.As<BinaryNode>();
  if (binary &&
      (e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod ||
       e.kind() == ExprKind::kTruncDiv || e.kind() == ExprKind::kTruncMod)) {
    const int64_t* divisor = AsInt(binary->b);
    if (!divisor || *divisor == 0) return true;
  }
  bool any = false;
  ForEachOperand(e, [&](const Expr& operand) {
    any = any || MayFault(operand, depth + 1);
  });
  return any;
}

Expr Combine(ExprKind kind, const Operands& operands) {
  Expr result;
  for (const Expr& operand : operands) {
    result = result ? Binary(kind, std::move(result), operand) : operand;
  }
  return result;
}

}  // namespace

Expr Context::SimplifyBool(const Expr& e) {
  if (e.kind() == ExprKind::kNot) return SimplifyNot(e);
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    return SimplifyJunction(e);
  }
  if (IsCompare(e.kind())) return SimplifyCompare(e);
  Expr result = SimplifyOperands(e);
  if (facts_.empty()) return result;
  if (auto known = LookUp(result)) return Bool(*known);
  return result;
}

Expr Context::SimplifyNot(const Expr& e) {
  const Expr value = Simplify(e.As<NotNode>()->value);
  if (const int64_t* known = AsInt(value)) return Bool(!*known);
  if (const auto* inner = value.As<NotNode>()) return inner->value;
  const auto* binary = value.As<BinaryNode>();
  if (binary && IsCompare(value.kind()) && IsExactInt(binary->a.dtype())) {
    return SimplifyCompare(
        Binary(NegatedCompare(value.kind()), binary->a, binary->b));
  }
  if (binary &&
      (value.kind() == ExprKind::kAnd || value.kind() == ExprKind::kOr)) {
    return Simplify(
        Binary(value.kind() == ExprKind::kAnd ? ExprKind::kOr : ExprKind::kAnd,
               Not(binary->a), Not(binary->b)));
  }
  return value == e.As<NotNode>()->value ? e : Not(value);
}

// `a and b`: b is simplified where a holds; then operands that follow from
// later ones go. `a or b` is the same with the opposite truth.
Expr Context::SimplifyJunction(const Expr& e) {
  const ExprKind kind = e.kind();
  const bool neutral = kind == ExprKind::kAnd;
  Operands operands, kept;
  Flatten(kind, e, &operands);
  const size_t mark = depth();
  bool may_fault = false;
  for (const Expr& operand : operands) {
    Operands parts;
    Flatten(kind, Simplify(operand), &parts);
    for (Expr& part : parts) {
      if (const int64_t* known = AsInt(part)) {
        if ((*known != 0) == neutral) continue;
        UndoTo(mark);
        // The operands before this one would be evaluated without effect.
        return Bool(!neutral);
      }
      Assume(part, neutral);
      may_fault = may_fault || MayFault(part);
      kept.push_back(std::move(part));
    }
  }
  UndoTo(mark);
  if (kept.empty()) return Bool(neutral);
  if (!may_fault && !DropImplied(&kept, neutral)) return Bool(!neutral);
  Expr result = Combine(kind, kept);
  return SameExpr(result, e) ? e : result;
}

bool Context::DropImplied(absl::InlinedVector<Expr, 4>* operands,
                          bool neutral) {
  const size_t mark = depth();
  for (size_t i = 0; operands->size() > 1 && i < operands->size();) {
    for (size_t j = 0; j < operands->size(); ++j) {
      if (j != i) Assume((*operands)[j], neutral);
    }
    const Expr seen = Simplify((*operands)[i]);
    UndoTo(mark);
    const int64_t* known = AsInt(seen);
    if (!known) {
      ++i;
    } else if ((*known != 0) == neutral) {
      operands->erase(operands->begin() + i);
    } else {
      return false;
    }
  }
  return true;
}

// select and if_then_else. Only the branch that if_then_else takes is
// evaluated, so its condition may be used there; select evaluates both.
Expr Context::SimplifyChoice(const Expr& e) {
  const auto* select = e.As<SelectNode>();
  const auto* call = e.As<CallNode>();
  const Expr& condition = select ? select->condition : call->args[0];
  const Expr& yes = select ? select->true_value : call->args[1];
  const Expr& no = select ? select->false_value : call->args[2];
  const Expr simple = Simplify(condition);
  if (const int64_t* known = AsInt(simple)) return Simplify(*known ? yes : no);
  const auto branch = [&](const Expr& value, bool truth) {
    if (select) return Simplify(value);
    const size_t mark = depth();
    Assume(simple, truth);
    Expr result = Simplify(value);
    UndoTo(mark);
    return result;
  };
  Expr a = branch(yes, true), b = branch(no, false);
  if (SameButForFactorOrder(a, b) && !MayFault(simple)) return a;
  if (simple == condition && a == yes && b == no) return e;
  return select ? Select(simple, std::move(a), std::move(b))
                : Call(e.dtype(), Intrinsic::kIfThenElse,
                       {simple, std::move(a), std::move(b)});
}

}  // namespace kiln
