// How often a condition on loops holds.
#ifndef KILN_SEARCH_FEATURE_CONDITION_SHARE_H_
#define KILN_SEARCH_FEATURE_CONDITION_SHARE_H_

#include <cstdint>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/search/feature/approximate_index.h"

namespace kiln {

// The share of iterations in which the condition holds, in [0, 1]. Of 7 pixels
// and 3 taps, 1 <= pixel + tap and pixel + tap < 8 hold in 19/21. Exact for
// comparisons of affine expressions whose bounds do not fail together; parts on
// different loops are taken to be independent, and what is not understood to
// hold always; so are equations that hold at every other step of a loop.
// `extents` are those of the loops.
double ConditionShare(const Expr& condition, const ApproximateScope& scope,
                      const std::vector<int64_t>& extents);

// The choice between something and zero that is a factor of what the store
// adds to its element: code generation leaves the addition out where it is
// zero. Nullptr where there is none.
//   C[i] = C[i] + if_then_else(condition, A[j], 0) * B[k]
const CallNode* SkippedChoice(const StoreNode& store);

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_CONDITION_SHARE_H_
