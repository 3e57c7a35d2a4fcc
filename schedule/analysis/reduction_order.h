// In which order a block takes the values that it reduces.
#ifndef KILN_SCHEDULE_ANALYSIS_REDUCTION_ORDER_H_
#define KILN_SCHEDULE_ANALYSIS_REDUCTION_ORDER_H_

#include <vector>

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Whether the loops, outermost first, run through the reduce iterators of the
// block in their own order: the values of the first one grow, for each of them
// those of the second one, and so on. With vk = k0 * 4 + k1 and vl = l,
//
//   for k0: for i: for k1 in range(4): for l:    in order
//   for k1: for k0: ...                          not
//   for l: for k0: for k1: ...                   not
//
// False also where a value is no sum of multiples of loops, or shares a loop
// with another iterator.
bool ReducesInOrder(const BlockRealizeNode& realize,
                    const std::vector<const ForNode*>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_REDUCTION_ORDER_H_
