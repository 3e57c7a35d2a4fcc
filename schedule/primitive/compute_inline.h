// Computing a tensor where it is used.
#ifndef KILN_SCHEDULE_PRIMITIVE_COMPUTE_INLINE_H_
#define KILN_SCHEDULE_PRIMITIVE_COMPUTE_INLINE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Puts what a producer computes in the place of every read of its tensor, and
// takes the producer and the tensor away:
//
//   for i: B[i] = A[i] * 2
//   for i: C[i] = B[i] + 1      ->   for i: C[i] = A[i] * 2 + 1
//
// Refuses unless the block is complete, has no init, is not an output, is all
// there is in no scope, and is one store at indices from which its iterators
// follow; also where the tensor is read by address, by a view or as a vector,
// and where what the block reads changes before its consumers run.
absl::StatusOr<Function> ComputeInline(const Function& f, BlockId block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_COMPUTE_INLINE_H_
