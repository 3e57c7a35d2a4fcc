// Moving a block into a loop of the blocks that use or make its tensors.
#ifndef KILN_SCHEDULE_PRIMITIVE_COMPUTE_AT_H_
#define KILN_SCHEDULE_PRIMITIVE_COMPUTE_AT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct ComputeAtOptions {
  // Whether loops of extent 1 are made too.
  bool preserve_unit_loops = false;
  // Among the children of the loop: -1 as late as possible, -2 as early as
  // possible, else the position itself.
  int index = -1;
};

// Moves a producer under `loop`, where each iteration computes what the
// consumers below read:
//
//   for i: for j: B[i, j] = A[i, j] * 2        for i:
//   for i: for j: C[i, j] = B[i, j] + 1   ->     for ax0: B[i, ax0] = ...
//                                                for j: C[i, j] = ...
//
// The block's id stays; its loops are new ones, ax0, ax1, ..., under its
// condition if it has one over loops that are values of iterators. Refuses
// unless the block is complete or a reduction and no output, all its consumers
// stand under `loop` (which is none of its own loops), its own producers come
// before with all that it reads, and a position between them exists.
absl::StatusOr<Function> ComputeAt(const Function& f, BlockId block,
                                   LoopId loop, ComputeAtOptions options = {});

// Moves a consumer under `loop`, where each iteration consumes what the
// producers below have written:
//
//   for i: for j: B[i, j] = A[i, j] * 2        for i:
//   for i: for j: C[i, j] = B[i, j] + 1   ->     for j: B[i, j] = ...
//                                                for ax0: C[i, ax0] = ...
//
// Refuses in the mirrored cases, where a parallel loop would move the sums of
// the block, and where a loop at or above `loop` sums up
// what the block reads, since the sum would not be complete.
absl::StatusOr<Function> ReverseComputeAt(const Function& f, BlockId block,
                                          LoopId loop,
                                          ComputeAtOptions options = {});

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_COMPUTE_AT_H_
