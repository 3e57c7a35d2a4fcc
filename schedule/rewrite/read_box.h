// Which box of a tensor the blocks of a scope read, conditions of the blocks
// inside of them included.
#ifndef KILN_SCHEDULE_REWRITE_READ_BOX_H_
#define KILN_SCHEDULE_REWRITE_READ_BOX_H_

#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {

// The smallest box of `tensor` that holds what the blocks `readers` of the
// scope read, by their regions and by the conditions under which they and the
// blocks inside of them run:
//
//   for i in range(12):
//     with T.block("outer"):
//       vi = T.axis.spatial(12, i)
//       with T.block("inner"):
//         T.where(vi < 10)            # A[0:10]
//         T.reads(A[vi])
//
// All of the tensor where no block inside runs under a condition, or where a
// bound is not a constant within it.
std::vector<Range> ReadBox(const Scope& scope,
                           const std::vector<BlockId>& readers,
                           const Buffer& tensor);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_READ_BOX_H_
