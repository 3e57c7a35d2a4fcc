// Index arithmetic in a normal form that suits code generation: a sum of
// constant multiples of atoms, outer variables first and the constant last, so
// that what varies least is computed first and rows of one tile share a base.
//
//   LinearForm f = ToLinear((i*6 + 3)*512 + k);   // 3072*i + 1*k + 1536
#ifndef KILN_CODEGEN_LOWER_LINEAR_H_
#define KILN_CODEGEN_LOWER_LINEAR_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::lower {

// `atom` is a variable or an expression that is not affine (a division by a
// constant that does not divide, a load, a minimum).
struct LinearTerm {
  Expr atom;
  int64_t coefficient;
};

// The sum of the terms and `constant`. Atoms differ and coefficients are not 0.
struct LinearForm {
  std::vector<LinearTerm> terms;
  int64_t constant = 0;

  bool IsConstant() const { return terms.empty(); }
  // The coefficient of `var`; 0 when it is not an atom.
  int64_t Coefficient(const VarNode* var) const;
  // Whether a variable that `is_wanted` accepts occurs inside an atom other
  // than as the atom itself.
  bool HidesVar(FunctionRef<bool(const VarNode*)> is_wanted) const;
};

// Equality of expressions by structure; variables and buffers by identity.
bool SameStructure(const Expr& a, const Expr& b);

// Substitutes and normalizes. One object serves one walk over a program.
class Normalizer {
 public:
  // Replaces `var` from here on; `value` is normalized already. Null unbinds.
  void Bind(const VarNode* var, Expr value);
  // Orders sums: terms of smaller depth come first. Unknown variables: 0.
  void SetDepth(const VarNode* var, int depth) { depth_[var] = depth; }
  bool HasBindings() const { return !bindings_.empty(); }

  // An equal expression after substitution: scalar int64 sums in the normal
  // form above, divisions by constants resolved where the divisor divides
  // terms, comparisons and choices decided where constants allow. The same node
  // comes back when nothing changes.
  Expr Run(const Expr& e);

  LinearForm Linearize(const Expr& e);
  Expr Build(LinearForm form);

 private:
  void Accumulate(const Expr& e, int64_t factor, LinearForm* form);
  void AccumulateProduct(const Expr& e, int64_t factor, LinearForm* form);
  void AccumulateDivision(const Expr& e, int64_t factor, LinearForm* form);
  void AddAtom(const Expr& atom, int64_t factor, LinearForm* form);
  int DepthOf(const Expr& atom);
  void SortByDepth(std::vector<LinearTerm>* terms);
  Expr RunBinary(const Expr& e);
  Expr RunChoice(const Expr& e);

  std::unordered_map<const VarNode*, Expr> bindings_;
  std::unordered_map<const VarNode*, int> depth_;
  // Sums and divisions that Run gives back unchanged; kept alive.
  std::unordered_map<const ExprNode*, Expr> normal_;
};

// The normal form of a scalar int64 expression with nothing substituted.
LinearForm ToLinear(const Expr& e);
// a - b.
LinearForm Difference(const LinearForm& a, const LinearForm& b);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_LINEAR_H_
