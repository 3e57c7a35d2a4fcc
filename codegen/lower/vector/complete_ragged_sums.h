#ifndef KILN_CODEGEN_LOWER_VECTOR_COMPLETE_RAGGED_SUMS_H_
#define KILN_CODEGEN_LOWER_VECTOR_COMPLETE_RAGGED_SUMS_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// What is added to the first lanes of an accumulator, as the last elements of a
// sum that fills no vectors, is added to all of it, with zeros beyond:
//
//   c[0:16] = broadcast(0, 16)          c[0:16] = broadcast(0, 16)
//   c[0:16] = c[0:16] + a[0:16]         c[0:16] = c[0:16] + a[0:16]
//   c[0:12] = c[0:12] + a[16:28]   →    c[0:16] = c[0:16] +
//                                           (lane < 12 ? a[16:32] : 0)
//
// so that it stays one value, in one register. Of unrolled code, where
// `machine` loads some lanes of a vector at once. A negative zero may become a
// positive one, so that strict functions (ir/tensor/numerics.h) stay.
absl::StatusOr<Function> CompleteRaggedSums(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_COMPLETE_RAGGED_SUMS_H_
