// Index expressions as sums of multiples of loops, approximately: for the cost
// model, which asks how far accesses reach. What has to be right takes Linear.
#ifndef KILN_SEARCH_FEATURE_APPROXIMATE_INDEX_H_
#define KILN_SEARCH_FEATURE_APPROXIMATE_INDEX_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// What one loop adds to an index: coefficient * loop, rounded down to a
// multiple of `step`, and going round so that it never passes `reach`. For f in
// [0, 64), f // 8 * 48 has the coefficient 6, a reach of 336 and steps of 48; f
// % 8 has the coefficient 1 and a reach of 7.
struct ApproximateTerm {
  int loop;
  double coefficient;
  double reach;
  double step;  // whole, above 0

  friend bool operator==(const ApproximateTerm& a, const ApproximateTerm& b) {
    return a.loop == b.loop && a.coefficient == b.coefficient &&
           a.reach == b.reach && a.step == b.step;
  }
};
using ApproximateTerms = absl::InlinedVector<ApproximateTerm, 4>;

// The sum of coefficient * loop, plus a constant; or not known at all. Terms
// are in the order of the loops and none is 0.
struct ApproximateIndex {
  ApproximateTerms terms;
  double constant = 0;
  // What it never passes, where the domain of an iterator ends before its loops
  // do: with columns in [0, 124) and tiles of 16, column // 124 is 0.
  double most = std::numeric_limits<double>::infinity();
  bool unknown = false;

  static ApproximateIndex Unknown();
  static ApproximateIndex OfLoop(int loop, int64_t extent);
};

// The variables in scope, and what they are in terms of loops.
class ApproximateScope {
 public:
  size_t depth() const { return bindings_.size(); }
  void Bind(const VarNode* var, ApproximateIndex value);
  // Forgets what was bound since the depth was `depth`.
  void Shrink(size_t depth);

  // Exact for sums, multiples by constants, and divisions that come out;
  // approximate for other divisions, minima and maxima. Indices that depend on
  // data are unknown.
  ApproximateIndex Evaluate(const Expr& e) const;

 private:
  struct Binding {
    const VarNode* var;
    ApproximateIndex value;
  };
  const ApproximateIndex* Find(const VarNode* var) const;
  ApproximateIndex EvaluateBinary(const BinaryNode& e) const;

  std::vector<Binding> bindings_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_APPROXIMATE_INDEX_H_
