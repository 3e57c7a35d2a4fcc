// Division by an expression that is not constant:
//
//   (x * n + y) // n    x       where 0 <= y < n
//   (x * n + y) % n     y       where 0 <= y < n
//   i % (n * 4) // n    stays: 0 <= i % (n * 4) < n * 4 bounds it
//   f // n              <= 31   where f < n * 32
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

// Takes each factor of `divisor` out of `atom`; null when one is missing.
// An empty product is a null with *exact true.
bool TakeOutFactors(const Expr& atom, const Factors& divisor, Expr* rest) {
  Factors factors = FactorsOf(atom);
  for (const Expr& wanted : divisor) {
    auto found = factors.begin();
    while (found != factors.end() && !SameButForFactorOrder(*found, wanted))
      ++found;
    if (found == factors.end()) return false;
    factors.erase(found);
  }
  *rest = ProductOf(factors);
  return true;
}

// Takes the multiples of `divisor` (one term or a whole sum) out of x and
// returns them divided by it.
Linear SplitSymbolic(Linear* x, const Linear& divisor) {
  Linear multiples, rest;
  if (divisor.terms.size() != 1 || divisor.constant != 0) return multiples;
  const Factors factors = FactorsOf(divisor.terms[0].atom);
  const int64_t unit = divisor.terms[0].coefficient;
  rest.constant = x->constant;
  for (const Term& term : x->terms) {
    Expr other;
    const bool divides = term.coefficient % unit == 0 &&
                         TakeOutFactors(term.atom, factors, &other);
    if (!divides) {
      rest.terms.push_back(term);
    } else if (other) {
      multiples.Add(other, term.coefficient / unit);
    } else {
      multiples.AddConstant(term.coefficient / unit);
    }
  }
  *x = std::move(rest);
  return multiples;
}

}  // namespace

void Context::DivideSymbolic(const BinaryNode& e, int64_t scale, Linear* out) {
  Linear x = LinearOf(e.a), divisor = LinearOf(e.b);
  const bool quotient = e.kind == ExprKind::kFloorDiv;
  const bool nonzero =
      x.ok && divisor.ok && !divisor.is_constant() && BoundOf(divisor).min > 0;
  if (nonzero) {
    const Linear multiples = SplitSymbolic(&x, divisor);
    if (quotient) out->Add(multiples, scale);
    Linear below = x;  // x - divisor < 0?
    below.Add(divisor, -1);
    if (x.is_constant() && x.constant == 0) return;
    if (below.ok && BoundOf(x).min >= 0 && BoundOf(below).max < 0) {
      if (!quotient) out->Add(x, scale);
      return;
    }
  }
  Expr a = ToExpr(&x, e.dtype), b = ToExpr(&divisor, e.dtype);
  out->ok &= a && b;
  if (!out->ok) return;
  Expr atom = Binary(e.kind, std::move(a), std::move(b));
  out->Add(atom, scale);
}

absl::InlinedVector<Linear, 2> Context::LimitsOfDigit(const BinaryNode& e) {
  absl::InlinedVector<Linear, 2> limits;
  const bool quotient = e.kind == ExprKind::kFloorDiv;
  if ((!quotient && e.kind != ExprKind::kFloorMod) || !IsExactInt(e.dtype)) {
    return limits;
  }
  Linear x, divisor;
  Decompose(e.a, 1, &x);
  Decompose(e.b, 1, &divisor);
  if (!x.ok || !divisor.ok || x.is_constant()) return limits;
  const ConstBound by = BoundOfTerms(divisor);
  if (by.min <= 0) return limits;
  if (!quotient) {
    divisor.AddConstant(-1);
    limits.push_back(std::move(divisor));
    return limits;
  }
  for (const Constraint& constraint : constraints_) {
    const int at = constraint.terms.Find(x.terms[0].atom);
    if (at < 0) continue;
    const int64_t unit = constraint.terms.terms[at].coefficient;
    if (x.terms[0].coefficient % unit != 0) continue;
    const int64_t factor = x.terms[0].coefficient / unit;
    if (factor == ConstBound::kNegInf) continue;
    const int64_t most = Scale(constraint.bound, factor).max;
    if (most == ConstBound::kPosInf || most == ConstBound::kNegInf) continue;
    Linear above = x;  // x <= above
    above.Add(constraint.terms, -factor);
    above.AddConstant(most);
    if (!above.ok) continue;
    Linear limit = SplitSymbolic(&above, divisor);
    const int64_t rest = BoundOfTerms(above).max;
    if (rest == ConstBound::kPosInf || rest == ConstBound::kNegInf) continue;
    if (rest >= 0) {
      limit.AddConstant(FloorQuotient(rest, by.min));
    } else {
      limit.AddConstant(
          by.max == ConstBound::kPosInf ? -1 : FloorQuotient(rest, by.max));
    }
    if (limit.ok) limits.push_back(std::move(limit));
  }
  return limits;
}

}  // namespace kiln
