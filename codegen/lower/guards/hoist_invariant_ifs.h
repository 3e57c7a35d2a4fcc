#ifndef KILN_CODEGEN_LOWER_GUARDS_HOIST_INVARIANT_IFS_H_
#define KILN_CODEGEN_LOWER_GUARDS_HOIST_INVARIANT_IFS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Moves conditions of `if` statements out of loops and allocations that do not
// affect them, and merges neighbours of one condition:
//
//   for j: for v:                        if i < 7:
//     if i < 7 and j*4 + v < 30:   →       for j: for v:
//       S                                    if j*4 + v < 30: S
//
// Conditions that load from memory stay.
absl::StatusOr<Function> HoistInvariantIfs(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_HOIST_INVARIANT_IFS_H_
