#ifndef KILN_CODEGEN_LOWER_VECTOR_SPLIT_AT_WRAPS_H_
#define KILN_CODEGEN_LOWER_VECTOR_SPLIT_AT_WRAPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Splits serial loops over vectors where a quotient by a constant changes, so
// that lanes are divided no longer:
//
//   for x in 62: B[x*16:+16] = A[ramp(x*16 + 7, 1, 16) % 100]
//                                   for y in 2:
//                                     for x in 5: B[...] = A[y... + x*16 +
//                                     7:+16]
//                              →      B[...] = A[ramp(87, 1, 16) % 100]
//                                     ...
//
// The vectors in which it changes are left, each with lanes at constant
// distances. Functions that are automatic only (ir/tensor/automatic.h).
absl::StatusOr<Function> SplitAtWraps(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_SPLIT_AT_WRAPS_H_
