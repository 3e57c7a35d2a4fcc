#include "kiln/codegen/lower/condition.h"

#include "kiln/ir/expr/visit.h"

namespace kiln::lower {
namespace {

LinearForm Minus(const Expr& a, const Expr& b, int64_t bias) {
  LinearForm form = Difference(ToLinear(a), ToLinear(b));
  form.constant += bias;
  return form;
}

}  // namespace

std::optional<Condition> AsCondition(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  if (!node || node->a.dtype() != DType::Index()) return std::nullopt;
  const Expr &a = node->a, &b = node->b;
  const ExprKind kind = e.kind();
  if (kind == ExprKind::kLT) {
    return Condition{Minus(b, a, -1), Test::kNonNegative};
  }
  if (kind == ExprKind::kLE) {
    return Condition{Minus(b, a, 0), Test::kNonNegative};
  }
  if (kind == ExprKind::kGT) {
    return Condition{Minus(a, b, -1), Test::kNonNegative};
  }
  if (kind == ExprKind::kGE) {
    return Condition{Minus(a, b, 0), Test::kNonNegative};
  }
  if (kind == ExprKind::kEQ) return Condition{Minus(a, b, 0), Test::kZero};
  return std::nullopt;
}

bool IsSafeAnywhere(const Expr& condition) {
  bool safe = true;
  Visit(condition, [&](const Expr& e) {
    safe = safe && e.kind() != ExprKind::kLoad && !e.As<CallNode>();
    const bool divides =
        e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kFloorMod ||
        e.kind() == ExprKind::kTruncDiv || e.kind() == ExprKind::kTruncMod;
    if (!divides) return safe;
    const int64_t* divisor = AsInt(e.As<BinaryNode>()->b);
    safe = safe && divisor && *divisor != 0;
    return safe;
  });
  return safe;
}

}  // namespace kiln::lower
