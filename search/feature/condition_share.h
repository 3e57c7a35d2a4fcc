// How often a condition on loops holds.
#ifndef KILN_SEARCH_FEATURE_CONDITION_SHARE_H_
#define KILN_SEARCH_FEATURE_CONDITION_SHARE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/search/feature/approximate_index.h"

namespace kiln {

// The share of iterations in which all conditions hold, in [0, 1]. Of 7 pixels
// and 3 taps, 1 <= pixel + tap and pixel + tap < 8 hold in 19/21. Exact for
// comparisons of affine expressions whose bounds do not fail together; parts on
// different loops are taken to be independent, and what is not understood to
// hold always. So are equations that hold at every other step of a loop, unless
// `has_phases` says that loops were split so that they decide all of them
// (kPhases in ir/tensor/marks.h). `extents` are those of the loops.
double ConditionShare(absl::Span<const Expr> conditions,
                      const ApproximateScope& scope,
                      const std::vector<int64_t>& extents,
                      bool has_phases = false);

// The choices, one inside the other, between something and zero that are a
// factor of what the store adds to its element: code generation leaves the
// addition out where it is zero.
//   C[i] = C[i] + if_then_else(condition, A[j], 0) * B[k]
std::vector<const CallNode*> SkippedChoices(const StoreNode& store);

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_CONDITION_SHARE_H_
