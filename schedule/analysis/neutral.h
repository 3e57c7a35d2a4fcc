// Instances of a reduction that its condition leaves out, and that would not
// change its result.
#ifndef KILN_SCHEDULE_ANALYSIS_NEUTRAL_H_
#define KILN_SCHEDULE_ANALYSIS_NEUTRAL_H_

#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Whether the reduction computes the same when every instance that the domains
// of its iterators have runs, in spite of its condition: those that it leaves
// out would combine initial values in, and each of its results takes in one
// value at least. Loops of the update are taken to run. A reason also means
// "cannot tell".
Reason WhyConditionMatters(const Scope& scope, int block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_NEUTRAL_H_
