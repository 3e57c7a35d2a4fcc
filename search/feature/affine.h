// Index expressions as sums of multiples of loops.
#ifndef KILN_SEARCH_FEATURE_AFFINE_H_
#define KILN_SEARCH_FEATURE_AFFINE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// A fraction stands where a loop is divided: (f // 8, f % 8) has {f: 1/8} and,
// for f in [0, 64), {f: 1/9}, which fills the 8 values of the remainder.
struct AffineTerm {
  int loop;
  double coefficient;

  friend bool operator==(const AffineTerm& a, const AffineTerm& b) {
    return a.loop == b.loop && a.coefficient == b.coefficient;
  }
};
using AffineTerms = absl::InlinedVector<AffineTerm, 4>;

// The sum of coefficient * loop, plus a constant; or not known at all. Terms
// are in the order of the loops and none is 0.
struct Affine {
  AffineTerms terms;
  double constant = 0;
  bool unknown = false;

  static Affine Unknown();
  static Affine OfLoop(int loop);
};

// The variables in scope, and what they are in terms of loops. Loops start at
// 0; extents[loop] tells their length.
class AffineScope {
 public:
  explicit AffineScope(const std::vector<int64_t>* extents)
      : extents_(*extents) {}

  size_t depth() const { return bindings_.size(); }
  void Bind(const VarNode* var, Affine value);
  // Forgets what was bound since the depth was `depth`.
  void Shrink(size_t depth);

  // Exact for sums, multiples by constants, and divisions that come out;
  // approximate for other divisions, minima and maxima. Indices that depend on
  // data are unknown.
  Affine Evaluate(const Expr& e) const;

 private:
  struct Binding {
    const VarNode* var;
    Affine value;
  };
  const Affine* Find(const VarNode* var) const;
  Affine EvaluateBinary(const BinaryNode& e) const;
  // The largest sum of the terms: each loop at its end.
  double Reach(const AffineTerms& terms) const;
  Affine Divide(const Affine& a, double divisor) const;
  Affine Remainder(const Affine& a, double divisor) const;

  const std::vector<int64_t>& extents_;
  std::vector<Binding> bindings_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_AFFINE_H_
