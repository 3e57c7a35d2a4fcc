// What the predicate of a block leaves of the box that its loops would write.
#ifndef KILN_SCHEDULE_ANALYSIS_PREDICATE_BOUNDS_H_
#define KILN_SCHEDULE_ANALYSIS_PREDICATE_BOUNDS_H_

#include <optional>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Along dimension `dim` elements before `begin` or from `end` on are left out.
// One of the two is null.
struct PredicateBound {
  size_t dim = 0;
  Expr begin, end;
};

// The cut that `condition` makes along `range`, in terms of loop variables,
// while `loops` run and outer ones stand still: what an iteration touches lies
// on the kept side exactly if the condition holds in it. nullopt: cannot tell.
std::optional<PredicateBound> PredicateBoundAlong(
    const Expr& condition, const Range& range,
    const std::vector<const ForNode*>& loops, Analyzer* analyzer);

// How the predicate of a block limits what it writes.
struct PredicateBounds {
  std::vector<PredicateBound> cuts;
  // Whether it writes at all, as far as outer loops decide that.
  Expr runs = Bool(true);
  bool complete = true;  // no part of the predicate does anything else
};

// For a block that writes `region` (in terms of loop variables) while the loops
// from `depth` on run and the outer ones stand still: of the points that it
// would write without a predicate it writes those that no cut leaves out, if
// the limits are complete. Points of a reduction count as written where one of
// its iterations runs.
PredicateBounds PredicateBoundsOf(const ScopeBlock& block,
                                  const std::vector<Range>& region,
                                  size_t depth);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_PREDICATE_BOUNDS_H_
