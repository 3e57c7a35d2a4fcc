// Minimum and maximum: operands that another one dominates go.
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

constexpr size_t kMaxOperands = 16;

void Flatten(ExprKind kind, const Expr& e,
             absl::InlinedVector<Expr, 4>* operands) {
  const auto* binary = e.As<BinaryNode>();
  if (e.kind() != kind || operands->size() >= kMaxOperands) {
    operands->push_back(e);
    return;
  }
  Flatten(kind, binary->a, operands);
  Flatten(kind, binary->b, operands);
}

// The operands again as one expression, a constant last; null where one does
// not fit `dtype`.
Expr Joined(ExprKind kind, DType dtype,
            absl::InlinedVector<Linear, 4>* operands) {
  Expr result, constant;
  for (Linear& operand : *operands) {
    Expr value = ToExpr(&operand, dtype);
    if (!value) return nullptr;
    if (AsInt(value)) {
      constant = value;
    } else {
      result = result ? Binary(kind, result, value) : value;
    }
  }
  if (!constant) return result;
  return result ? Binary(kind, result, constant) : constant;
}

}  // namespace

Expr Context::SimplifyMinMax(const Expr& e) {
  const bool is_min = e.kind() == ExprKind::kMin;
  absl::InlinedVector<Expr, 4> operands, simplified;
  Flatten(e.kind(), e, &operands);
  for (const Expr& operand : operands) {
    if (MayWrap(operand)) return SimplifyOperands(e);
  }
  for (const Expr& operand : operands) {
    Flatten(e.kind(), Simplify(operand), &simplified);
  }
  absl::InlinedVector<Linear, 4> kept;
  for (const Expr& operand : simplified) {
    Linear next;
    Decompose(operand, 1, &next);
    if (!next.ok) return SimplifyOperands(e);
    bool dominated = false;
    for (size_t i = 0; i < kept.size() && !dominated;) {
      Linear difference = next;  // next - kept
      difference.Add(kept[i], -1);
      if (!difference.ok) return SimplifyOperands(e);
      const ConstBound bound = BoundOf(difference);
      dominated = is_min ? bound.min >= 0 : bound.max <= 0;
      const bool dominates = is_min ? bound.max <= 0 : bound.min >= 0;
      if (!dominated && dominates) {
        kept.erase(kept.begin() + i);
      } else {
        ++i;
      }
    }
    if (!dominated) kept.push_back(std::move(next));
  }
  const Expr result = Joined(e.kind(), e.dtype(), &kept);
  if (!result) return SimplifyOperands(e);
  return SameExpr(result, e) ? e : result;
}

}  // namespace kiln
