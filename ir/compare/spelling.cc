#include "kiln/ir/compare/spelling.h"

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/fold.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// `e` without a conversion that makes an integer wider; null for others.
Expr BeforeWidening(const Expr& e) {
  const auto* cast = e.As<CastNode>();
  if (!cast || !cast->dtype.is_int()) return Expr();
  const DType from = cast->value.dtype();
  const bool is_wider = from.is_integral() && from.bits() < cast->dtype.bits();
  return is_wider ? cast->value : Expr();
}

// 0 < Cast("int64", x) as 0 < x, and as x itself where x is a bool.
Expr WithoutWidening(const Expr& less) {
  const auto* binary = less.As<BinaryNode>();
  const bool is_above = IsZero(binary->a);
  if (!is_above && !IsZero(binary->b)) return less;
  const Expr x = BeforeWidening(is_above ? binary->b : binary->a);
  if (!x || (x.dtype().is_bool() && !is_above)) return less;
  if (x.dtype().is_bool()) return x;
  const Expr zero = Int(0, x.dtype());
  return is_above ? LT(zero, x) : LT(x, zero);
}

Expr Ordered(const Expr& e) {
  Expr below =
      MapOperands(e, [](const Expr& operand) { return Ordered(operand); });
  const auto* binary = below.As<BinaryNode>();
  if (below.kind() == ExprKind::kGE) return LE(binary->b, binary->a);
  if (below.kind() == ExprKind::kGT) below = LT(binary->b, binary->a);
  return below.kind() == ExprKind::kLT ? WithoutWidening(below) : below;
}

}  // namespace

Stmt InOneSpelling(const Stmt& s) {
  return RewriteExprs(
      s, [](const Expr& e) -> Expr { return Ordered(FoldNumbers(e)); });
}

}  // namespace kiln
