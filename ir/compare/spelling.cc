#include "kiln/ir/compare/spelling.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/fold.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

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

// The terms of a sum, with their text to order them by; constants come last.
using Terms = std::vector<std::pair<std::string, Expr>>;

std::pair<std::string, Expr> WithText(const Expr& e) {
  return {(AsInt(e) ? "~" : "") + PrintExpr(e), e};
}

void AddTerms(const Expr& e, bool is_positive, Terms& positive,
              Terms& negative) {
  const bool is_difference = e.kind() == ExprKind::kSub;
  if (e.kind() != ExprKind::kAdd && !is_difference) {
    (is_positive ? positive : negative).push_back(WithText(e));
    return;
  }
  const auto* sum = e.As<BinaryNode>();
  AddTerms(sum->a, is_positive, positive, negative);
  AddTerms(sum->b, is_positive != is_difference, positive, negative);
}

void Sort(Terms& terms) {
  std::stable_sort(
      terms.begin(), terms.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
}

Expr OrderedSum(const Expr& e) {
  Terms positive, negative;
  AddTerms(e, true, positive, negative);
  Sort(positive);
  Sort(negative);
  Expr sum;
  for (const auto& [text, term] : positive) sum = sum ? Add(sum, term) : term;
  if (!sum) sum = Int(0);
  for (const auto& [text, term] : negative) sum = Sub(sum, term);
  return sum;
}

bool MayChangePlaces(ExprKind kind) {
  return kind == ExprKind::kMul || kind == ExprKind::kMin ||
         kind == ExprKind::kMax || kind == ExprKind::kEQ ||
         kind == ExprKind::kNE;
}

}  // namespace

Expr InOneOrder(const Expr& e) {
  const auto* binary = e.As<BinaryNode>();
  if (!binary || binary->a.dtype() != DType::Index()) return e;
  const ExprKind kind = e.kind();
  if (kind == ExprKind::kAdd || kind == ExprKind::kSub) return OrderedSum(e);
  const bool swaps = MayChangePlaces(kind) &&
                     WithText(binary->b).first < WithText(binary->a).first;
  return swaps ? Binary(kind, binary->b, binary->a) : e;
}

Stmt InOneSpelling(const Stmt& s) {
  return RewriteExprs(
      s, [](const Expr& e) -> Expr { return Ordered(FoldNumbers(e)); });
}

}  // namespace kiln
