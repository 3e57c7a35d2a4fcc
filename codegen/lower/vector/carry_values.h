#ifndef KILN_CODEGEN_LOWER_VECTOR_CARRY_VALUES_H_
#define KILN_CODEGEN_LOWER_VECTOR_CARRY_VALUES_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Keeps in registers what an iteration of a serial loop stores and the next one
// loads, as running sums and recurrences do; the first iteration comes before
// the loop. The form of `f` is the lowered one (verify_lowered.h) with its
// unrolled loops gone, before and after.
absl::StatusOr<Function> CarryValues(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_CARRY_VALUES_H_
