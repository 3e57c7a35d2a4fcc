// Which rules apply to which node.
#include "kiln/ir/arith/context.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {

Expr Context::Simplify(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
      return e;
    case ExprKind::kVar:
      if (!vars_.empty()) {
        const VarInfo* info = FindVar(e.As<VarNode>());
        if (info && info->value) return info->value;
        if (info && info->bound.min == info->bound.max &&
            IsExactInt(e.dtype())) {
          return Int(info->bound.min, e.dtype());
        }
      }
      if (e.dtype().is_bool() && !facts_.empty()) {
        if (auto known = LookUp(e)) return Bool(*known);
      }
      return e;
    default:
      break;
  }
  Visit visit(this);
  return visit.ok() ? SimplifyNode(e) : e;
}

Expr Context::SimplifyOperands(const Expr& e) {
  return MapOperands(e,
                     [this](const Expr& operand) { return Simplify(operand); });
}

Expr Context::SimplifyNode(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (e.kind() == ExprKind::kSelect
          ? e.As<SelectNode>()->condition.dtype().is_scalar()
          : call && call->op == Intrinsic::kIfThenElse) {
    return SimplifyChoice(e);
  }
  if (e.dtype() == DType::Bool()) return SimplifyBool(e);
  if (!IsExactInt(e.dtype())) return SimplifyOperands(e);
  switch (e.kind()) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return SimplifySum(e);
    case ExprKind::kMin:
    case ExprKind::kMax:
      return SimplifyMinMax(e);
    default:
      return SimplifyOperands(e);
  }
}

}  // namespace kiln
