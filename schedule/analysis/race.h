// Whether loops that a program runs side by side may do so.
#ifndef KILN_SCHEDULE_ANALYSIS_RACE_H_
#define KILN_SCHEDULE_ANALYSIS_RACE_H_

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// FailedPrecondition where a loop written as parallel, vectorized or bound to a
// thread axis has iterations that may touch the same element, one of them
// writing: the message names loop, tensor and the way out. For programs that
// no primitive has checked. Threads (threadIdx) may share a reduction and
// memory of their own. Blocks marked `disjoint_writes` (separation.h) count as
// marked. What opaque calls outside of blocks do is not looked at.
absl::Status CheckConcurrentLoops(const Function& f);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_RACE_H_
