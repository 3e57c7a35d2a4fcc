// Expressions become steps of KernelDim. It has no conditions: one is a number,
// 1 where it holds and 0 where not, and a choice is a sum of products:
//
//   i < j                        T.max(T.min(j - i, 1), 0)
//   T.if_then_else(c, i, j)      c * i + (1 - c) * j
#include "kiln/codegen/host/dim.h"

#include <utility>

namespace kiln {
namespace {

using Op = KernelDim::Op;
using MaybeDim = std::optional<KernelDim>;

std::optional<Op> OpOf(ExprKind kind) {
  if (kind == ExprKind::kAdd) return Op::kAdd;
  if (kind == ExprKind::kSub) return Op::kSub;
  if (kind == ExprKind::kMul) return Op::kMul;
  if (kind == ExprKind::kFloorDiv) return Op::kFloorDiv;
  if (kind == ExprKind::kFloorMod) return Op::kFloorMod;
  if (kind == ExprKind::kMin) return Op::kMin;
  if (kind == ExprKind::kMax) return Op::kMax;
  return std::nullopt;
}

// Whether a cast keeps every value that a size can have.
bool KeepsSizes(DType to, DType from) {
  return to.is_scalar() && to.is_integral() && from.is_integral() &&
         to.bits() >= 32 && to.bits() >= from.bits();
}

// Nothing where an operand is nothing; a number where both are.
MaybeDim Combined(Op op, const MaybeDim& a, const MaybeDim& b) {
  if (!a || !b) return std::nullopt;
  const KernelDim dim = KernelDim::Compound(op, *a, *b);
  if (!a->is_constant() || !b->is_constant()) return dim;
  const auto value = Evaluate(dim, absl::Span<const int64_t>());
  return value ? MaybeDim(KernelDim::Constant(*value)) : std::nullopt;
}

MaybeDim Number(int64_t value) { return KernelDim::Constant(value); }

// --- Conditions.

MaybeDim IsLess(const MaybeDim& a, const MaybeDim& b) {
  const MaybeDim distance = Combined(Op::kSub, b, a);
  return Combined(Op::kMax, Combined(Op::kMin, distance, Number(1)), Number(0));
}

MaybeDim Negated(const MaybeDim& condition) {
  return Combined(Op::kSub, Number(1), condition);
}

MaybeDim Compared(ExprKind kind, const MaybeDim& a, const MaybeDim& b) {
  if (kind == ExprKind::kLT) return IsLess(a, b);
  if (kind == ExprKind::kGT) return IsLess(b, a);
  if (kind == ExprKind::kLE) return Negated(IsLess(b, a));
  if (kind == ExprKind::kGE) return Negated(IsLess(a, b));
  const MaybeDim differ = Combined(Op::kMax, IsLess(a, b), IsLess(b, a));
  if (kind == ExprKind::kNE) return differ;
  return kind == ExprKind::kEQ ? Negated(differ) : std::nullopt;
}

MaybeDim ConditionOf(const Expr& e, const ScalarNumbers& scalars) {
  if (const int64_t* known = AsInt(e)) return Number(*known != 0);
  if (const auto* opposite = e.As<NotNode>()) {
    return Negated(ConditionOf(opposite->value, scalars));
  }
  const auto* binary = e.As<BinaryNode>();
  if (!binary) return std::nullopt;
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    return Combined(e.kind() == ExprKind::kAnd ? Op::kMin : Op::kMax,
                    ConditionOf(binary->a, scalars),
                    ConditionOf(binary->b, scalars));
  }
  if (!binary->a.dtype().is_integral()) return std::nullopt;
  return Compared(e.kind(), ToKernelDim(binary->a, scalars),
                  ToKernelDim(binary->b, scalars));
}

// A choice that is decided has the value chosen, whatever the other one is.
MaybeDim Chosen(const Expr& condition, const Expr& yes, const Expr& no,
                const ScalarNumbers& scalars) {
  const MaybeDim holds = ConditionOf(condition, scalars);
  if (!holds) return std::nullopt;
  if (holds->is_constant()) {
    return ToKernelDim(holds->constant() != 0 ? yes : no, scalars);
  }
  return Combined(Op::kAdd,
                  Combined(Op::kMul, holds, ToKernelDim(yes, scalars)),
                  Combined(Op::kMul, Negated(holds), ToKernelDim(no, scalars)));
}

}  // namespace

MaybeDim ToKernelDim(const Expr& e, const ScalarNumbers& scalars) {
  if (const int64_t* known = AsInt(e)) return KernelDim::Constant(*known);
  if (const auto* var = e.As<VarNode>()) {
    auto found = scalars.find(var);
    if (found == scalars.end()) return std::nullopt;
    return KernelDim::Symbolic(found->second);
  }
  if (const auto* cast = e.As<CastNode>()) {
    if (!KeepsSizes(e.dtype(), cast->value.dtype())) return std::nullopt;
    return ToKernelDim(cast->value, scalars);
  }
  if (const auto* select = e.As<SelectNode>()) {
    return Chosen(select->condition, select->true_value, select->false_value,
                  scalars);
  }
  const auto* call = e.As<CallNode>();
  if (call && call->op == Intrinsic::kIfThenElse) {
    return Chosen(call->args[0], call->args[1], call->args[2], scalars);
  }
  const auto* binary = e.As<BinaryNode>();
  const auto op = binary ? OpOf(e.kind()) : std::nullopt;
  if (!op) return std::nullopt;
  return Combined(*op, ToKernelDim(binary->a, scalars),
                  ToKernelDim(binary->b, scalars));
}

}  // namespace kiln
