#ifndef KILN_CODEGEN_LOWER_GUARDS_GUARD_ZERO_UPDATES_H_
#define KILN_CODEGEN_LOWER_GUARDS_GUARD_ZERO_UPDATES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Leaves out additions of products that a condition makes zero, as padding and
// the gaps of a transposed convolution do:
//
//   C[i] = C[i] + if_then_else(0 <= j, A[j], 0) * B[k]
//     →  if 0 <= j: C[i] = C[i] + A[j] * B[k]
//
// so that hoist_invariant_ifs and partition_loops make whole loops of them go.
// The other factors are taken to be finite: 0 * inf is left out as well, but
// not in a strict function (ir/tensor/numerics.h), where float sums stay as
// they are. Conditions that load from memory, or that lanes of a vectorized
// loop take differently, stay.
absl::StatusOr<Function> GuardZeroUpdates(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_GUARD_ZERO_UPDATES_H_
