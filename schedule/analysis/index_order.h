// Whether the indices that an argmax or argmin combines come in their order.
#ifndef KILN_SCHEDULE_ANALYSIS_INDEX_ORDER_H_
#define KILN_SCHEDULE_ANALYSIS_INDEX_ORDER_H_

#include <vector>

#include "kiln/ir/tensor/stmt.h"
#include "kiln/schedule/analysis/reducer.h"

namespace kiln {

// Whether indices never fall from one instance of the block to the next of the
// same result, as `loops` (those around the block, outermost first) run, and
// none is below the initial one. The first of equal values is then one of the
// least index, in whatever order they are combined:
//
//   for k0, k1 in grid(4, 8):   index k0 * 8 + k1, initial -1
//
// Indices and extents have to be constants times loops. False also means
// "cannot tell".
bool IndicesGrow(const Reducer& reducer, const BlockRealizeNode& realize,
                 const std::vector<const ForNode*>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_INDEX_ORDER_H_
