// Blocks that leave loops which they share with the writers of what they read.
#ifndef KILN_SCHEDULE_REWRITE_OVERTAKEN_H_
#define KILN_SCHEDULE_REWRITE_OVERTAKEN_H_

#include <vector>

#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// Why the block cannot stand behind the loops that it has, under the loops
// `place` alone: later iterations of a writer would come before it.
//
//   for i:
//     t[0] = A[i]
//     B[i] = t[0] + 1      # not after the loop
//
// nullopt where each element that it reads is written once, and before, or
// where it shares no loop with its writers but those of `place`.
Reason WhyOvertaken(const Scope& scope, int block,
                    const std::vector<const ForNode*>& place);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_OVERTAKEN_H_
