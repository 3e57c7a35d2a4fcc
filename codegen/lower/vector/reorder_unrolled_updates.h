#ifndef KILN_CODEGEN_LOWER_VECTOR_REORDER_UNROLLED_UPDATES_H_
#define KILN_CODEGEN_LOWER_VECTOR_REORDER_UNROLLED_UPDATES_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Brings the terms that unrolled loops add to accumulators into the order in
// which a shared operand is read, so that it is read once and stays in a
// register for all its uses, as the rows of a depthwise convolution:
//
//   c[0] += a[i] * w[0]                 c[0] += a[i] * w[0]
//   c[1] += a[i+1] * w[0]               c[1] += a[i+1] * w[0]
//   c[2] += a[i+2] * w[0]        →      c[0] += a[i+1] * w[1]
//   c[0] += a[i+1] * w[1]               c[2] += a[i+2] * w[0]
//   c[1] += a[i+2] * w[1]               c[1] += a[i+2] * w[1]
//
// Only of sums over vectors of two operands that both move from term to term:
// where one is a broadcast, the order of the loops is the register tile's.
// Sorted is by the operand of which more vectors are read. Terms of one
// accumulator may change places, as `reorder` of a reduction may have it; those
// of a strict function (ir/tensor/numerics.h) do not.
//
// Terms that share nothing with others, as those of other channels in a
// depthwise convolution, come as a group where the first cache of `machine`
// keeps what they read of lines that the next group reads, too.
absl::StatusOr<Function> ReorderUnrolledUpdates(Function f,
                                                const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_REORDER_UNROLLED_UPDATES_H_
