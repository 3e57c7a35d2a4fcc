// Index expressions in the form that suits code generation: a sum of constant
// multiples of atoms, outer variables first and the constant last, so that what
// varies least is computed first and the rows of one tile share a base.
//
//   ToLinear((i*6 + 3)*512 + k)   is   3072·[i] + 1·[k] + 1536
//
// An Analyzer finds simpler expressions by what is known of their variables.
// This knows nothing but constants, and takes a fraction of the time.
#ifndef KILN_IR_ARITH_INDEX_NORMALIZER_H_
#define KILN_IR_ARITH_INDEX_NORMALIZER_H_

#include <cstdint>
#include <unordered_map>

#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// Substitutes and normalizes. One object serves one walk over a program: it
// remembers which nodes are in normal form already, with what is bound then.
// Binding a variable that stands in such nodes as itself (one with a depth)
// makes it forget them; other variables have to be bound before they are met.
class IndexNormalizer {
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

  // Always `ok`: a sum with numbers that overflow is one atom.
  Linear Linearize(const Expr& e);
  Expr Build(Linear linear);

 private:
  void Accumulate(const Expr& e, int64_t factor, Linear* out);
  void AccumulateProduct(const Expr& e, int64_t factor, Linear* out);
  void AccumulateDivision(const Expr& e, int64_t factor, Linear* out);
  int DepthOf(const Expr& atom);
  void SortByDepth(Linear* linear);
  Expr RunBinary(const Expr& e);
  Expr RunChoice(const Expr& e);

  std::unordered_map<const VarNode*, Expr> bindings_;
  std::unordered_map<const VarNode*, int> depth_;
  // Sums and divisions that Run gives back unchanged; kept alive.
  std::unordered_map<const ExprNode*, Expr> normal_;
};

// The normal form of a scalar int64 expression with nothing substituted.
Linear ToLinear(const Expr& e);

}  // namespace kiln

#endif  // KILN_IR_ARITH_INDEX_NORMALIZER_H_
