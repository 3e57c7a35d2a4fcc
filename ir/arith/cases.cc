#include "kiln/ir/arith/cases.h"

#include <optional>

namespace kiln {
namespace {

constexpr int kMaxChoices = 4;

// The two expressions that one with a min or max becomes when the first of
// these is replaced by either of its operands.
struct Choice {
  Expr first, second;
  bool is_min = false;   // else a max
  bool negated = false;  // whether the expression falls as it grows
};

std::optional<Choice> FirstChoice(const Expr& e) {
  const auto* node = e.As<BinaryNode>();
  if (!node) return std::nullopt;
  if (node->kind == ExprKind::kMin || node->kind == ExprKind::kMax) {
    return Choice{node->a, node->b, node->kind == ExprKind::kMin, false};
  }
  const bool is_sum = node->kind == ExprKind::kAdd;
  if (!is_sum && node->kind != ExprKind::kSub) return std::nullopt;
  const auto join = [&](const Expr& a, const Expr& b) {
    return is_sum ? Add(a, b) : Sub(a, b);
  };
  if (auto left = FirstChoice(node->a)) {
    left->first = join(left->first, node->b);
    left->second = join(left->second, node->b);
    return left;
  }
  auto right = FirstChoice(node->b);
  if (!right) return std::nullopt;
  right->first = join(node->a, right->first);
  right->second = join(node->a, right->second);
  right->negated ^= !is_sum;
  return right;
}

using Proof = FunctionRef<bool(const Expr& a, const Expr& b)>;

bool LessEqual(const Expr& a, const Expr& b, int choices, Proof proves) {
  if (proves(a, b)) return true;
  if (choices == 0) return false;
  // One operand of a min on the small side is enough, or of a max on the large.
  if (const auto choice = FirstChoice(a)) {
    const bool first = LessEqual(choice->first, b, choices - 1, proves);
    if (first == (choice->is_min != choice->negated)) return first;
    return LessEqual(choice->second, b, choices - 1, proves);
  }
  if (const auto choice = FirstChoice(b)) {
    const bool first = LessEqual(a, choice->first, choices - 1, proves);
    if (first == (choice->is_min == choice->negated)) return first;
    return LessEqual(a, choice->second, choices - 1, proves);
  }
  return false;
}

}  // namespace

bool CanProveLessEqualByCases(const Expr& a, const Expr& b,
                              Analyzer* analyzer) {
  return HoldsByCases(a, b, [&](const Expr& x, const Expr& y) {
    return analyzer->CanProveLessEqual(x, y);
  });
}

bool HoldsByCases(const Expr& a, const Expr& b, Proof proves) {
  return LessEqual(a, b, kMaxChoices, proves);
}

}  // namespace kiln
