#include "kiln/codegen/lower/guards/condition.h"

#include "kiln/ir/expr/visit.h"

namespace kiln::lower {
namespace {

// a - b + bias, tested; nullopt where numbers overflow.
std::optional<Condition> Tested(const Expr& a, const Expr& b, int64_t bias,
                                Test test) {
  Linear form = Difference(ToLinear(a), ToLinear(b));
  form.AddConstant(bias);
  if (!form.ok) return std::nullopt;
  return Condition{std::move(form), test};
}

}  // namespace

std::optional<Condition> AsCondition(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  if (!node || node->a.dtype() != DType::Index()) return std::nullopt;
  const Expr &a = node->a, &b = node->b;
  const ExprKind kind = e.kind();
  if (kind == ExprKind::kLT) return Tested(b, a, -1, Test::kNonNegative);
  if (kind == ExprKind::kLE) return Tested(b, a, 0, Test::kNonNegative);
  if (kind == ExprKind::kGT) return Tested(a, b, -1, Test::kNonNegative);
  if (kind == ExprKind::kGE) return Tested(a, b, 0, Test::kNonNegative);
  if (kind == ExprKind::kEQ) return Tested(a, b, 0, Test::kZero);
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
