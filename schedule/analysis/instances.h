// Which instances of a block its loops run, and how often.
#ifndef KILN_SCHEDULE_ANALYSIS_INSTANCES_H_
#define KILN_SCHEDULE_ANALYSIS_INSTANCES_H_

#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Whether the loops between the block and its scope run every instance that
// the domains of its iterators have, under its predicate. A reason also means
// "cannot tell".
Reason WhyNotAllRun(const ScopeBlock& block);

// Whether the block's condition only keeps its iterators in their domains.
bool HasPlainPredicate(const ScopeBlock& block);

// Whether several instances may write the same element.
bool MayWriteAgain(const BlockNode& block);

// Whether a sum that the outermost `shared` loops carry on is the same as one
// that the block's own loops make: they run each of its instances once, and
// that with the init first.
Reason WhyNotSummedOnce(const ScopeBlock& block, size_t shared);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_INSTANCES_H_
