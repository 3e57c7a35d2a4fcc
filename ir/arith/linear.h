// Linear combinations of atoms: the normal form of integer expressions.
//
//   i * 8 + (j // 4) - n * m + 3   is   8·[i] + 1·[j // 4] - 1·[n * m] + 3
//
// An atom is any expression that is not itself a sum, a constant, or a
// multiple of something. Terms keep the order in which they came.
#ifndef KILN_IR_ARITH_LINEAR_H_
#define KILN_IR_ARITH_LINEAR_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

struct Term {
  Expr atom;
  int64_t coefficient;
};

struct Linear {
  absl::InlinedVector<Term, 6> terms;
  int64_t constant = 0;
  bool ok = true;  // false once a coefficient overflowed; the rest is void

  bool is_constant() const { return ok && terms.empty(); }
  // The coefficient of the variable; 0 where it is not an atom.
  int64_t Coefficient(const VarNode* var) const;
  // Whether a variable that `is_wanted` accepts occurs inside an atom other
  // than as the atom itself.
  bool HidesVar(FunctionRef<bool(const VarNode*)> is_wanted) const;
  void AddConstant(int64_t value);
  void AddConstant(int64_t value, int64_t scale);
  // Merges with the term of the same atom; a term that becomes 0 goes.
  void Add(const Expr& atom, int64_t coefficient);
  void Add(const Linear& other, int64_t scale);
  // The index of the term of `atom`, or -1.
  int Find(const Expr& atom) const;
  void Remove(int index) { terms.erase(terms.begin() + index); }
};

// a - b; not `ok` where a number overflows.
Linear Difference(const Linear& a, const Linear& b);

// Adds scale * e, where e is in normal form already: sums and multiples are
// taken apart, everything else is an atom.
void Decompose(const Expr& e, int64_t scale, Linear* out);

// The terms by decreasing positive, then decreasing negative coefficient;
// ties stay in order.
void SortTerms(Linear* linear);

// The terms by decreasing magnitude of the coefficient, ties in order.
void SortByMagnitude(Linear* linear);

// Takes the multiples of c > 0 out of x and returns them divided by c:
// x = c * result + what is left in x, where 0 <= the constant left < c and
// every coefficient left is smaller than c.
Linear SplitMultiples(Linear* x, int64_t c);

// The expression: positive terms, negative terms, constant last (first, where
// no term is positive but the constant is). Sorts. Null when a number does
// not fit `dtype`.
Expr ToExpr(Linear* linear, DType dtype);

// Whether `e` is what ToExpr makes of `linear`, found out without making it.
// Sorts. May be false for unusual forms.
bool Spells(const Expr& e, Linear* linear);

// The factors of a product of atoms; `atom` itself when it is none.
using Factors = absl::InlinedVector<Expr, 4>;
Factors FactorsOf(const Expr& atom);
Expr ProductOf(const Factors& factors);

int64_t Gcd(int64_t a, int64_t b);

}  // namespace kiln

#endif  // KILN_IR_ARITH_LINEAR_H_
