#include "kiln/ir/arith/split_dims.h"

#include <optional>

#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

// `number` of `number // by` and of `number % by`.
Expr Operand(const Expr& e, ExprKind kind, int64_t by) {
  const auto* node = e.As<BinaryNode>();
  if (!node || node->kind != kind) return nullptr;
  const int64_t* divisor = AsInt(node->b);
  return divisor && *divisor == by ? node->a : nullptr;
}

// The other summands of `sum`, which has `e` among them; null where it has not.
Expr Without(const Expr& sum, const Expr& e) {
  const auto* add = sum.As<BinaryNode>();
  if (!add || add->kind != ExprKind::kAdd) return nullptr;
  if (SameExpr(add->b, e)) return add->a;
  if (SameExpr(add->a, e)) return add->b;
  if (const Expr rest = Without(add->a, e)) return Add(rest, add->b);
  if (const Expr rest = Without(add->b, e)) return Add(add->a, rest);
  return nullptr;
}

// The number whose last digit, with the base `extent`, is `last`, and whose
// other digits are `front`, below `bound`; null where they are of no one
// number. Digits in the middle are (x // extent) % bound, or
// x % (extent * bound) // extent. Of the first digits, other summands may stand
// beside x // extent.
Expr NumberOf(const Expr& front, const Expr& last, int64_t bound,
              int64_t extent) {
  const Expr number = Operand(last, ExprKind::kFloorMod, extent);
  if (!number) return nullptr;
  const auto is_number = [&](const Expr& e) {
    return e && SameExpr(e, number);
  };
  if (is_number(Operand(front, ExprKind::kFloorDiv, extent))) return number;
  const Expr quotient = FloorDiv(number, Int(extent));
  if (const Expr rest = Without(front, quotient)) {
    return Add(Mul(rest, Int(extent)), number);
  }
  const Expr whole = FloorMod(number, Int(bound * extent));
  if (const Expr digits = Operand(front, ExprKind::kFloorMod, bound)) {
    if (is_number(Operand(digits, ExprKind::kFloorDiv, extent))) return whole;
  }
  if (const Expr digits = Operand(front, ExprKind::kFloorDiv, extent)) {
    if (is_number(Operand(digits, ExprKind::kFloorMod, bound * extent))) {
      return whole;
    }
  }
  return nullptr;
}

}  // namespace

void MergeSplitDims(std::vector<Expr>* indices, std::vector<int64_t>* shape) {
  for (size_t d = indices->size(); d-- > 1;) {
    const Expr number = NumberOf((*indices)[d - 1], (*indices)[d],
                                 (*shape)[d - 1], (*shape)[d]);
    if (!number) continue;
    (*indices)[d - 1] = number;
    (*shape)[d - 1] *= (*shape)[d];
    indices->erase(indices->begin() + static_cast<ptrdiff_t>(d));
    shape->erase(shape->begin() + static_cast<ptrdiff_t>(d));
  }
}

}  // namespace kiln
