#include "kiln/ir/expr/same.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

using Operands = absl::InlinedVector<const Expr*, 8>;

Operands OperandsOf(const Expr& e) {
  Operands operands;
  ForEachOperand(e, [&](const Expr& operand) { operands.push_back(&operand); });
  return operands;
}

void CollectFactors(const Expr& e, Operands* factors) {
  constexpr size_t kMostFactors = 16;
  const auto* product = e.As<BinaryNode>();
  if (e.kind() != ExprKind::kMul || factors->size() > kMostFactors) {
    factors->push_back(&e);
    return;
  }
  CollectFactors(product->a, factors);
  CollectFactors(product->b, factors);
}

// Whether two nodes of one kind and type agree in all but their operands.
bool SameOwnFields(const Expr& a, const Expr& b) {
  if (const auto* x = a.As<IntImmNode>()) {
    return x->value == b.As<IntImmNode>()->value;
  }
  if (const auto* x = a.As<FloatImmNode>()) {
    return std::memcmp(&x->value, &b.As<FloatImmNode>()->value,
                       sizeof(double)) == 0;
  }
  if (const auto* x = a.As<StringImmNode>()) {
    return x->value == b.As<StringImmNode>()->value;
  }
  if (const auto* x = a.As<LoadNode>()) {
    return x->buffer == b.As<LoadNode>()->buffer;
  }
  if (const auto* x = a.As<LetNode>()) return x->var == b.As<LetNode>()->var;
  if (const auto* x = a.As<CallNode>()) {
    return x->op == b.As<CallNode>()->op &&
           GetIntrinsicInfo(x->op).purity != Purity::kOpaque;
  }
  return true;
}

class Comparer {
 public:
  explicit Comparer(bool any_factor_order)
      : any_factor_order_(any_factor_order) {}

  bool Same(const Expr& a, const Expr& b) {
    if (a == b) return true;
    if (!a || !b || a.kind() != b.kind() || a.dtype() != b.dtype() ||
        a.kind() == ExprKind::kVar || --nodes_left_ <= 0) {
      return false;
    }
    if (const auto* x = a.As<BinaryNode>()) {
      const auto* y = b.As<BinaryNode>();
      if (Same(x->a, y->a) && Same(x->b, y->b)) return true;
      return any_factor_order_ && a.kind() == ExprKind::kMul &&
             SameFactors(a, b);
    }
    return SameOwnFields(a, b) && SameOperands(OperandsOf(a), OperandsOf(b));
  }

 private:
  bool SameOperands(const Operands& a, const Operands& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [&](const Expr* x, const Expr* y) { return Same(*x, *y); });
  }

  bool SameFactors(const Expr& a, const Expr& b) {
    Operands left, right;
    CollectFactors(a, &left);
    CollectFactors(b, &right);
    if (left.size() != right.size()) return false;
    for (const Expr* factor : left) {
      const auto found = std::find_if(
          right.begin(), right.end(),
          [&](const Expr* other) { return Same(*factor, *other); });
      if (found == right.end()) return false;
      right.erase(found);
    }
    return true;
  }

  const bool any_factor_order_;
  int nodes_left_ = kMostNodesCompared;
};

}  // namespace

bool SameExpr(const Expr& a, const Expr& b) {
  return a == b || Comparer(false).Same(a, b);
}

bool SameButForFactorOrder(const Expr& a, const Expr& b) {
  return a == b || Comparer(true).Same(a, b);
}

}  // namespace kiln
