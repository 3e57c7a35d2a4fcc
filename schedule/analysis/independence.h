// Whether the iterations of a loop may run in any order, or all at once.
#ifndef KILN_SCHEDULE_ANALYSIS_INDEPENDENCE_H_
#define KILN_SCHEDULE_ANALYSIS_INDEPENDENCE_H_

#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"

namespace kiln {

struct IndependenceOptions {
  // Iterations that share a reduction count as independent: they combine their
  // parts afterwards (threads of one block on a device).
  bool allow_reduction = false;
};

// The blocks below the loop are complete or reductions among themselves; the
// loop moves only their spatial iterators, so that two iterations write
// different elements, but for buffers that live within one iteration; and what
// one block hands to another stays within the iteration. A block alone may also
// update elements, where those of two iterations differ (separation.h). A loop
// of one iteration is independent whatever it holds.
Reason WhyNotIndependent(const Path& loop, IndependenceOptions options = {});

// Whether what flows between the blocks of a subtree stays within one run of
// it: each read is covered there, and nothing is overwritten after it is read.
Reason WhyFlowCrosses(const Scope& subtree);

// Whether every access to `buffer` within the scope is below `subtree`, and
// the scope allocates it: it lives within one run of `subtree`.
bool LivesWithin(const BlockNode& scope, const Stmt& subtree,
                 const Buffer& buffer);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_INDEPENDENCE_H_
