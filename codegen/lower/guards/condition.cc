#include "kiln/codegen/lower/guards/condition.h"

#include <algorithm>
#include <vector>

#include "kiln/ir/expr/same.h"
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

void AddFactors(const Expr& product, std::vector<Expr>* factors) {
  if (product.kind() != ExprKind::kMul) {
    factors->push_back(product);
    return;
  }
  AddFactors(product.As<BinaryNode>()->a, factors);
  AddFactors(product.As<BinaryNode>()->b, factors);
}

// Where a loop runs, no factor of its extent is 0.
bool IsNoZero(const Expr& divisor, const LoopStack& loops) {
  if (const int64_t* value = AsInt(divisor)) return *value != 0;
  std::vector<Expr> wanted, known;
  AddFactors(divisor, &wanted);
  for (const ForNode* loop : loops) AddFactors(loop->extent, &known);
  return std::all_of(wanted.begin(), wanted.end(), [&](const Expr& factor) {
    if (const int64_t* value = AsInt(factor)) return *value != 0;
    return std::any_of(known.begin(), known.end(),
                       [&](const Expr& e) { return SameExpr(e, factor); });
  });
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

bool DividesByNoZero(const LoopStack& loops, const Expr& e) {
  bool safe = true;
  Visit(e, [&](const Expr& x) {
    const bool divides =
        x.kind() == ExprKind::kFloorDiv || x.kind() == ExprKind::kFloorMod ||
        x.kind() == ExprKind::kTruncDiv || x.kind() == ExprKind::kTruncMod;
    if (divides) safe = safe && IsNoZero(x.As<BinaryNode>()->b, loops);
    return safe;
  });
  return safe;
}

bool IsSafeIn(const LoopStack& loops, const Expr& condition) {
  bool safe = DividesByNoZero(loops, condition);
  Visit(condition, [&](const Expr& e) {
    safe = safe && e.kind() != ExprKind::kLoad && !e.As<CallNode>();
    return safe;
  });
  return safe;
}

}  // namespace kiln::lower
