#ifndef KILN_CODEGEN_LOWER_VECTOR_PART_SUMS_H_
#define KILN_CODEGEN_LOWER_VECTOR_PART_SUMS_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Where a serial loop adds to fewer local sums of floats than additions are
// under way at once (kSumsAtOnce, base/lowering_policy.h), and to each several
// times in an iteration: these terms go to sums of their own, which are added
// up behind the loop. Not in strict functions (ir/tensor/numerics.h). The form
// of `f` is the lowered one (verify_lowered.h) with its unrolled loops gone,
// before and after.
absl::StatusOr<Function> PartSums(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_PART_SUMS_H_
