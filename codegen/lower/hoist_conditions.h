#ifndef KILN_CODEGEN_LOWER_HOIST_CONDITIONS_H_
#define KILN_CODEGEN_LOWER_HOIST_CONDITIONS_H_

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
absl::StatusOr<Function> HoistConditions(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_HOIST_CONDITIONS_H_
