#ifndef KILN_CODEGEN_LOWER_AUTO_INSERT_PREFETCHES_H_
#define KILN_CODEGEN_LOWER_AUTO_INSERT_PREFETCHES_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Has long innermost loops ask for the vectors that they, or the loops around
// them, read later from large buffers, where the hardware does not see it:
//
//   for k in 512:
//     acc[0:16] += A[k] * B[k*1024 : k*1024 + 16]
//   ->
//   for k in 512:
//     T.prefetch(T.address_of(B[k*1024 + 65536]), 0, 3, 1)
//     acc[0:16] += A[k] * B[k*1024 : k*1024 + 16]
//
// What is asked for may lie outside of a buffer, at the end of its loops; but
// nothing is computed for it that the program does not compute anyway or that
// could stop the program (a division by 0, a read). The form of `f` is the
// lowered one (verify_lowered.h), before and after.
absl::StatusOr<Function> InsertPrefetches(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_AUTO_INSERT_PREFETCHES_H_
