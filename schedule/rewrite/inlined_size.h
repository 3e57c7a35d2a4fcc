// How large expressions grow where loads are replaced by what was stored.
#ifndef KILN_SCHEDULE_REWRITE_INLINED_SIZE_H_
#define KILN_SCHEDULE_REWRITE_INLINED_SIZE_H_

#include "kiln/ir/tensor/stmt.h"
#include "kiln/schedule/analysis/property.h"

namespace kiln {

// A value that is read twice by each of n stages has 2^n copies once all are
// inlined. Above this many nodes, inlining may add up but not multiply.
inline constexpr int64_t kMostInlinedNodes = 4096;

// Why the loads in and below `consumer` of what `store` writes cannot be
// replaced by its value: an expression would have more than kMostInlinedNodes
// nodes, and more than it has now together with the value. A value that is used
// once is never too large. `producer` holds the iterators of the store.
Reason WhyTooLargeInlined(const Stmt& consumer, const BlockNode& producer,
                          const StoreNode& store);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_INLINED_SIZE_H_
