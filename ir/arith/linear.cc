// Terms are kept in a short list and found one by one: sums of indices have few
// terms, and the order in which they came is worth keeping, since ties are
// printed in it. All atoms are different and no coefficient is 0. Coefficients
// never are the least int64, so that any of them can be negated; a number that
// overflows clears `ok`, once and for all, and the caller keeps its expression.
//
//   3 + j*8 - u + i*64  is  {8 [j], -1 [u], 64 [i]} + 3, and is written
//   i*64 + j*8 - u + 3      after SortTerms
//
// Most expressions that are simplified stand in normal form already. Spells
// reads such an expression from its right end and compares it with the terms,
// so that the same node is returned and none is made.
#include "kiln/ir/arith/linear.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

constexpr int64_t kMinInt = std::numeric_limits<int64_t>::min();

void CollectFactors(const Expr& e, Factors* out) {
  const auto* product = e.As<BinaryNode>();
  if (e.kind() != ExprKind::kMul || out->size() > 16) {
    out->push_back(e);
    return;
  }
  CollectFactors(product->a, out);
  CollectFactors(product->b, out);
}

bool Before(const Term& a, const Term& b) {
  const bool a_positive = a.coefficient > 0, b_positive = b.coefficient > 0;
  if (a_positive != b_positive) return a_positive;
  return a_positive ? a.coefficient > b.coefficient
                    : a.coefficient < b.coefficient;
}

bool Fits(int64_t value, DType dtype) {
  if (value == kMinInt) return false;
  if (dtype.bits() >= 64) return true;
  const int64_t limit = int64_t{1} << (dtype.bits() - 1);
  return value < limit && value > -limit;
}

Expr Multiple(const Term& term, int64_t coefficient, DType dtype) {
  return coefficient == 1 ? term.atom : Mul(term.atom, Int(coefficient, dtype));
}

bool IsMultiple(const Expr& e, const Term& term, int64_t coefficient) {
  if (coefficient == 1) return SameExpr(e, term.atom);
  const auto* product = e.As<BinaryNode>();
  return product && e.kind() == ExprKind::kMul &&
         IsConst(product->b, coefficient) && SameExpr(product->a, term.atom);
}

Expr Append(Expr sum, const Term& term, DType dtype) {
  if (!sum) return Multiple(term, term.coefficient, dtype);
  if (term.coefficient > 0) {
    return Add(std::move(sum), Multiple(term, term.coefficient, dtype));
  }
  return Sub(std::move(sum), Multiple(term, -term.coefficient, dtype));
}

bool AllFit(const Linear& linear, DType dtype) {
  return linear.ok && Fits(linear.constant, dtype) &&
         std::all_of(linear.terms.begin(), linear.terms.end(),
                     [&](const Term& t) { return Fits(t.coefficient, dtype); });
}

// Insertion sort: few terms, mostly sorted, and stable.
template <typename Less>
void Sort(Linear* linear, Less before) {
  auto& terms = linear->terms;
  for (size_t i = 1; i < terms.size(); ++i) {
    for (size_t j = i; j > 0 && before(terms[j], terms[j - 1]); --j) {
      std::swap(terms[j], terms[j - 1]);
    }
  }
}

}  // namespace

void Linear::AddConstant(int64_t value) {
  ok &= !__builtin_add_overflow(constant, value, &constant) &&
        constant != kMinInt;
}

void Linear::AddConstant(int64_t value, int64_t scale) {
  int64_t product;
  ok &= !__builtin_mul_overflow(value, scale, &product);
  if (ok) AddConstant(product);
}

int64_t Linear::Coefficient(const VarNode* var) const {
  for (const Term& term : terms) {
    if (term.atom.get() == var) return term.coefficient;
  }
  return 0;
}

bool Linear::HidesVar(FunctionRef<bool(const VarNode*)> is_wanted) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
    return !term.atom.As<VarNode>() && UsesVar(term.atom, is_wanted);
  });
}

int Linear::Find(const Expr& atom) const {
  for (size_t i = 0; i < terms.size(); ++i) {
    if (SameButForFactorOrder(terms[i].atom, atom)) return static_cast<int>(i);
  }
  return -1;
}

void Linear::Add(const Expr& atom, int64_t coefficient) {
  if (coefficient == 0) return;
  ok &= coefficient != kMinInt;
  const int index = Find(atom);
  if (index < 0) {
    terms.push_back({atom, coefficient});
    return;
  }
  int64_t& sum = terms[index].coefficient;
  ok &= !__builtin_add_overflow(sum, coefficient, &sum) && sum != kMinInt;
  if (sum == 0) Remove(index);
}

void Linear::Add(const Linear& other, int64_t scale) {
  ok &= other.ok;
  AddConstant(other.constant, scale);
  for (const Term& term : other.terms) {
    int64_t product;
    ok &= !__builtin_mul_overflow(term.coefficient, scale, &product);
    if (!ok) return;
    Add(term.atom, product);
  }
}

Linear Difference(const Linear& a, const Linear& b) {
  Linear difference = a;
  difference.Add(b, -1);
  return difference;
}

void Decompose(const Expr& e, int64_t scale, Linear* out) {
  if (const int64_t* value = AsInt(e)) return out->AddConstant(*value, scale);
  const auto* binary = e.As<BinaryNode>();
  if (binary && (e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kSub)) {
    Decompose(binary->a, scale, out);
    const bool negate = e.kind() == ExprKind::kSub;
    if (negate && scale == kMinInt) {
      out->ok = false;
      return;
    }
    return Decompose(binary->b, negate ? -scale : scale, out);
  }
  if (binary && e.kind() == ExprKind::kMul) {
    const int64_t* factor = AsInt(binary->b);
    const Expr& other = factor ? binary->a : binary->b;
    if (!factor) factor = AsInt(binary->a);
    if (factor) {
      int64_t product;
      out->ok &= !__builtin_mul_overflow(scale, *factor, &product);
      if (out->ok) Decompose(other, product, out);
      return;
    }
  }
  out->Add(e, scale);
}

void SortTerms(Linear* linear) { Sort(linear, Before); }

void SortByMagnitude(Linear* linear) {
  Sort(linear, [](const Term& a, const Term& b) {
    return std::abs(a.coefficient) > std::abs(b.coefficient);
  });
}

Linear SplitMultiples(Linear* x, int64_t c) {
  Linear multiples;
  const int64_t constant = FloorRemainder(x->constant, c);
  multiples.constant = FloorQuotient(x->constant, c);
  x->constant = constant;
  size_t kept = 0;
  for (size_t i = 0; i < x->terms.size(); ++i) {
    Term& term = x->terms[i];
    const int64_t quotient = term.coefficient / c;
    if (quotient != 0) multiples.terms.push_back({term.atom, quotient});
    term.coefficient %= c;
    if (term.coefficient == 0) continue;
    if (kept != i) x->terms[kept] = std::move(term);
    ++kept;
  }
  x->terms.resize(kept);
  return multiples;
}

Expr ToExpr(Linear* linear, DType dtype) {
  if (!AllFit(*linear, dtype)) return nullptr;
  if (linear->terms.empty()) return Int(linear->constant, dtype);
  SortTerms(linear);
  int64_t constant = linear->constant;
  Expr sum;
  if (constant > 0 && linear->terms[0].coefficient < 0) {
    sum = Int(std::exchange(constant, 0), dtype);
  }
  for (const Term& term : linear->terms) {
    sum = Append(std::move(sum), term, dtype);
  }
  if (constant > 0) return Add(std::move(sum), Int(constant, dtype));
  if (constant < 0) return Sub(std::move(sum), Int(-constant, dtype));
  return sum;
}

bool Spells(const Expr& e, Linear* linear) {
  if (!linear->ok || linear->terms.empty()) return false;
  SortTerms(linear);
  // ToExpr begins with the constant here: 511 - v, not v * -1 + 511.
  if (linear->constant > 0 && linear->terms[0].coefficient < 0) return false;
  const Expr* rest = &e;
  const auto take = [&](int64_t sign) -> const Expr* {
    const ExprKind kind = sign > 0 ? ExprKind::kAdd : ExprKind::kSub;
    const auto* sum = rest->As<BinaryNode>();
    if (!sum || rest->kind() != kind) return nullptr;
    rest = &sum->a;
    return &sum->b;
  };
  if (linear->constant != 0) {
    const Expr* last = take(linear->constant);
    if (!last || !IsConst(*last, std::abs(linear->constant))) return false;
  }
  for (size_t i = linear->terms.size(); i-- > 1;) {
    const Term& term = linear->terms[i];
    const Expr* last = take(term.coefficient);
    if (!last || !IsMultiple(*last, term, std::abs(term.coefficient))) {
      return false;
    }
  }
  return IsMultiple(*rest, linear->terms[0], linear->terms[0].coefficient);
}

Factors FactorsOf(const Expr& atom) {
  Factors factors;
  CollectFactors(atom, &factors);
  return factors;
}

Expr ProductOf(const Factors& factors) {
  Expr product;
  for (const Expr& factor : factors) {
    product = product ? Mul(std::move(product), factor) : factor;
  }
  return product;
}

int64_t Gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? -static_cast<uint64_t>(a) : a;
  uint64_t y = b < 0 ? -static_cast<uint64_t>(b) : b;
  while (y != 0) x = std::exchange(y, x % y);
  return x > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
             ? 1
             : static_cast<int64_t>(x);
}

}  // namespace kiln
