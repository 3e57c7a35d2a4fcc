// transform_block_layout: other iterators for a block, and loops over them.
//
//   for i, j in T.grid(8, 16):           for ax0 in range(128):
//     with T.block("B"):                   with T.block("B"):
//       vi, vj = "SS"(i, j)          =>      v0 = T.axis.spatial(128, ax0)
//       B[vi, vj] = A[vi, vj]                B[v0 // 16, v0 % 16] = A[...]
//
// (here with lambda i, j: (i * 16 + j,)). The map takes the iterators to the
// new ones; the loops around the block give way to new ones, one for each
// iterator; the block keeps its id, and a condition that it runs under goes on
// in terms of the new loops. Refuses: a map that is not one-to-one onto
// a box from 0, or that mixes spatial and reduce iterators in one; a block that
// is neither complete nor a reduction; iterators that are not loop variables
// with the same range; loops that are not plain or hold other blocks.
#ifndef KILN_SCHEDULE_PRIMITIVE_TRANSFORM_BLOCK_LAYOUT_H_
#define KILN_SCHEDULE_PRIMITIVE_TRANSFORM_BLOCK_LAYOUT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

absl::StatusOr<Function> TransformBlockLayout(const Function& f, BlockId block,
                                              const IndexMap& map);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_TRANSFORM_BLOCK_LAYOUT_H_
