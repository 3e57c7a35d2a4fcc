// Puts back together what divisions took apart. Every term with a constant
// divisor is a digit group of some x: (x % high) // low, where `high` may be
// missing (no remainder taken) and low may be 1. For the same x:
//
//   k * (x % h // m) + k2 * (x % m // l)  =  k2 * (x % h // l)
//                                               if k * l = k2 * m
//   k * (x % h // l) - k2 * (x % h // m)  =  k * (x % m // l)
//                                               if k * m = k2 * l
//   k * (x % h // l) - k * (x % m // l)   =  k * (m / l) * (x % h // m)
//
// so that (x // 4) * 4 + x % 4 is x, and x - (x // 8) * 8 is x % 8.
//
// Of x = 16*i + j other rules leave x // 7 % 7 as (i*2 + (i*2 + j) // 7) % 7
// and x % 7 as (i*2 + j) % 7. So a sum with a quotient is taken for the
// quotient of a sum, and in the first rule the second x may be another one that
// leaves the same remainder when divided by m.
#include <algorithm>
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

struct Digits {
  Expr x;
  int64_t low = 1;
  int64_t high = 0;  // 0: none
  bool divides = false;
};

// The second operand, where it is a positive constant; else 0.
int64_t Divisor(const BinaryNode& e) {
  const int64_t* c = AsInt(e.b);
  return c && *c > 0 ? *c : 0;
}

// (a + y // c) % h is (c*a + y) % (c*h) // c: digits of c*a + y.
bool AsDigitsOfSum(const BinaryNode& mod, Digits* digits) {
  Linear sum;
  Decompose(mod.a, 1, &sum);
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const Expr quotient = sum.terms[i].atom;
    if (quotient.kind() != ExprKind::kFloorDiv) continue;
    const auto* divided = quotient.As<BinaryNode>();
    const int64_t c = Divisor(*divided);
    if (c == 0 || sum.terms[i].coefficient != 1) continue;
    Linear x;
    sum.Remove(static_cast<int>(i));
    x.Add(sum, c);
    Decompose(divided->a, 1, &x);
    int64_t high;
    if (__builtin_mul_overflow(c, Divisor(mod), &high) || !x.ok) return false;
    const Expr numerator = ToExpr(&x, mod.dtype);
    if (!numerator) return false;
    *digits = {numerator, c, high, true};
    return true;
  }
  return false;
}

Digits AsDigits(const Expr& atom) {
  Digits digits{atom};
  const auto* e = atom.As<BinaryNode>();
  if (e && e->kind == ExprKind::kFloorDiv && Divisor(*e)) {
    digits = {e->a, Divisor(*e), 0, true};
    e = e->a.As<BinaryNode>();
    if (!e || e->kind != ExprKind::kFloorMod) return digits;
    if (!Divisor(*e) || Divisor(*e) % digits.low != 0) return digits;
    digits.x = e->a;
    digits.high = Divisor(*e);
    return digits;
  }
  if (e && e->kind == ExprKind::kFloorMod && Divisor(*e)) {
    if (e->a.kind() == ExprKind::kAdd && AsDigitsOfSum(*e, &digits)) {
      return digits;
    }
    return {e->a, 1, Divisor(*e), true};
  }
  return digits;
}

// What two terms become, where they are digits of the same x, or of numbers
// that leave the same remainder when divided by `modulus`, if there is one.
struct Merged {
  int64_t coefficient, low, high;
  int64_t modulus = 0;
};

bool Agree(const Expr& a, const Expr& b, int64_t modulus) {
  if (SameButForFactorOrder(a, b)) return true;
  if (modulus == 0) return false;
  Linear difference;
  Decompose(a, 1, &difference);
  Decompose(b, -1, &difference);
  bool divides = difference.ok && difference.constant % modulus == 0;
  for (const Term& term : difference.terms) {
    divides = divides && term.coefficient % modulus == 0;
  }
  return divides;
}

bool ProductsEqual(int64_t a, int64_t b, int64_t c, int64_t d) {
  int64_t left, right;
  return !__builtin_mul_overflow(a, b, &left) &&
         !__builtin_mul_overflow(c, d, &right) && left == right;
}

bool HighCovers(const Digits& a, const Digits& b) {
  return a.high == 0 ||
         (b.high != 0 && a.high % b.high == 0 && a.high > b.high);
}

// The rules above for ka * a + kb * b in this order of a and b.
bool Merge(const Digits& a, int64_t ka, const Digits& b, int64_t kb,
           Merged* out) {
  if (a.low == b.high && ProductsEqual(ka, b.low, kb, a.low)) {
    *out = {kb, b.low, a.high, b.high};
    return true;
  }
  if (a.high == b.high && a.low < b.low && b.low % a.low == 0 &&
      ProductsEqual(ka, b.low, -kb, a.low)) {
    *out = {ka, a.low, b.low};
    return true;
  }
  if (a.low == b.low && b.high != 0 && a.high != b.high && HighCovers(a, b) &&
      ka == -kb) {
    int64_t coefficient;
    if (__builtin_mul_overflow(ka, b.high / a.low, &coefficient)) return false;
    *out = {coefficient, b.high, a.high};
    return true;
  }
  return false;
}

// The factor k with which all of x stands in `linear` (constants aside), or 0.
int64_t WholeFactor(const Linear& linear, const Linear& x) {
  int64_t factor = 0;
  for (const Term& term : x.terms) {
    const int at = linear.Find(term.atom);
    if (at < 0 || linear.terms[at].coefficient % term.coefficient) return 0;
    const int64_t k = linear.terms[at].coefficient / term.coefficient;
    if (factor != 0 && k != factor) return 0;
    factor = k;
  }
  return factor;
}

}  // namespace

bool Context::Recombine(Linear* linear, DType dtype) {
  bool changed = false;
  for (int round = 0; round < 16 && linear->ok; ++round) {
    if (linear->terms.size() < 2) return changed;
    bool any = false;
    for (const Term& term : linear->terms) {
      any |= term.atom.kind() == ExprKind::kFloorDiv ||
             term.atom.kind() == ExprKind::kFloorMod;
    }
    if (!any) return changed;
    if (!RecombineOnce(linear, dtype) && !RecombineWhole(linear, dtype) &&
        !RecombineSymbolic(linear, dtype)) {
      return changed;
    }
    changed = true;
  }
  return changed;
}

bool Context::RecombineOnce(Linear* linear, DType dtype) {
  auto& terms = linear->terms;
  absl::InlinedVector<Digits, 6> digits;
  for (const Term& term : terms) digits.push_back(AsDigits(term.atom));
  for (size_t i = 0; i < terms.size(); ++i) {
    for (size_t j = 0; j < terms.size(); ++j) {
      if (i == j || (!digits[i].divides && !digits[j].divides)) continue;
      Merged merged;
      if (!Merge(digits[i], terms[i].coefficient, digits[j],
                 terms[j].coefficient, &merged) ||
          !Agree(digits[i].x, digits[j].x, merged.modulus)) {
        continue;
      }
      Linear x, part;
      Decompose(digits[i].x, 1, &x);
      if (merged.high != 0) {
        ModuloConst(std::move(x), merged.high, dtype, 1, &part);
        x = std::exchange(part, Linear());
      }
      DivideConst(std::move(x), merged.low, dtype, merged.coefficient, &part);
      Linear result = *linear;
      result.Remove(static_cast<int>(std::max(i, j)));
      result.Remove(static_cast<int>(std::min(i, j)));
      result.Add(part, 1);
      if (!result.ok) return false;
      *linear = std::move(result);
      return true;
    }
  }
  return false;
}

// k * x - k * c * (x // c) and k * x - k * (x % c), where x is a sum.
bool Context::RecombineWhole(Linear* linear, DType dtype) {
  for (size_t i = 0; i < linear->terms.size(); ++i) {
    const Digits digits = AsDigits(linear->terms[i].atom);
    if (!digits.divides || (digits.low != 1 && digits.high != 0)) continue;
    const int64_t coefficient = linear->terms[i].coefficient;
    Linear x;
    Decompose(digits.x, 1, &x);
    if (x.terms.size() == 1 && x.terms[0].coefficient == 1 && x.constant == 0) {
      continue;  // RecombineOnce saw it
    }
    const int64_t k = WholeFactor(*linear, x);
    const int64_t c = digits.high ? digits.high : digits.low;
    if (k == 0 || (digits.high ? !ProductsEqual(k, 1, -1, coefficient)
                               : !ProductsEqual(k, c, -1, coefficient))) {
      continue;
    }
    Linear result = *linear;
    result.Remove(static_cast<int>(i));
    result.Add(x, -k);
    if (digits.high) {
      int64_t scale;
      result.ok &= !__builtin_mul_overflow(k, c, &scale);
      if (result.ok) DivideConst(std::move(x), c, dtype, scale, &result);
    } else {
      ModuloConst(std::move(x), c, dtype, k, &result);
    }
    if (!result.ok) return false;
    *linear = std::move(result);
    return true;
  }
  return false;
}

// k * (x // d) * d + k * (x % d), where d is not constant, is k * x.
bool Context::RecombineSymbolic(Linear* linear, DType dtype) {
  for (size_t i = 0; i < linear->terms.size(); ++i) {
    const Expr atom = linear->terms[i].atom;
    const auto* mod = atom.As<BinaryNode>();
    if (!mod || mod->kind != ExprKind::kFloorMod || AsInt(mod->b)) continue;
    const int64_t k = linear->terms[i].coefficient;
    Linear quotient, divisor, product, x;
    quotient.Add(FloorDiv(mod->a, mod->b), 1);
    Decompose(mod->b, 1, &divisor);
    Multiply(quotient, divisor, dtype, 1, &product);
    if (!product.ok || WholeFactor(*linear, product) != k) continue;
    Decompose(mod->a, 1, &x);
    Linear result = *linear;
    result.Remove(static_cast<int>(i));
    result.Add(product, -k);
    result.Add(x, k);
    if (!result.ok) return false;
    *linear = std::move(result);
    return true;
  }
  return false;
}

}  // namespace kiln
