// Minimum and maximum: operands that another one dominates go.
#include <utility>

#include "kiln/ir/arith/context.h"

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

}  // namespace

Expr Context::SimplifyMinMax(const Expr& e) {
  const bool is_min = e.kind() == ExprKind::kMin;
  absl::InlinedVector<Expr, 4> operands, simplified;
  Flatten(e.kind(), e, &operands);
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
  Expr result, constant;
  for (Linear& operand : kept) {
    Expr value = ToExpr(&operand, e.dtype());
    if (!value) return SimplifyOperands(e);
    if (AsInt(value)) {
      constant = value;
    } else {
      result = result ? Binary(e.kind(), result, value) : value;
    }
  }
  if (constant) result = result ? Binary(e.kind(), result, constant) : constant;
  return SameText(result, e) ? e : result;
}

}  // namespace kiln
