// Finishing a tensor where it is produced.
#ifndef KILN_SCHEDULE_PRIMITIVE_REVERSE_COMPUTE_INLINE_H_
#define KILN_SCHEDULE_PRIMITIVE_REVERSE_COMPUTE_INLINE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Lets the producer of what a consumer reads do the consumer's work, and takes
// the consumer and the tensor between them away:
//
//   for i: B[i] = A[i] * 2
//   for i: C[i] = B[i] + 1      ->   for i: C[i] = A[i] * 2 + 1
//
// Where the producer computes more than the consumer takes, it gets a
// predicate. Refuses unless both blocks are complete and one store each (so
// that no step of a reduction does the work), the producer's tensor is local
// and has no other reader, the consumer reads it at one place, from which its
// iterators follow, and all that the consumer reads is written before.
absl::StatusOr<Function> ReverseComputeInline(const Function& f, BlockId block);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_REVERSE_COMPUTE_INLINE_H_
