#include "kiln/ir/expr/conjuncts.h"

namespace kiln {
namespace {

void Collect(const Expr& condition, std::vector<Expr>* conjuncts) {
  if (condition.kind() != ExprKind::kAnd) {
    conjuncts->push_back(condition);
    return;
  }
  const auto* both = condition.As<BinaryNode>();
  Collect(both->a, conjuncts);
  Collect(both->b, conjuncts);
}

}  // namespace

std::vector<Expr> ConjunctsOf(const Expr& condition) {
  std::vector<Expr> conjuncts;
  Collect(condition, &conjuncts);
  return conjuncts;
}

Expr Conjunction(const Expr& a, const Expr& b) {
  return !a ? b : !b ? a : And(a, b);
}

}  // namespace kiln
