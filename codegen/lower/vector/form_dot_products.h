#ifndef KILN_CODEGEN_LOWER_VECTOR_FORM_DOT_PRODUCTS_H_
#define KILN_CODEGEN_LOWER_VECTOR_FORM_DOT_PRODUCTS_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Makes vectorized loops over sums of integers, each of a few unrolled steps,
// sums of neighbouring lanes:
//
//   for j in vectorized(16):
//     for e in unroll(2):            C[0:16] = C[0:16] + lane_sums(
//       C[j] = C[j] +           →        int32(A[k*2 + ramp(0, 1, 32) % 2]) *
//           int32(A[k*2 + e]) *          int32(B[0:32]), 2)
//           int32(B[j*2 + e])
//
// where an instruction of the machine multiplies and adds up so many integers
// of such types (VectorRegisters::dots). Also of fewer steps, where the operand
// that moves from lane to lane has room for all of them.
absl::StatusOr<Function> FormDotProducts(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_FORM_DOT_PRODUCTS_H_
