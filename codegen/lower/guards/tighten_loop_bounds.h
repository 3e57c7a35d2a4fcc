#ifndef KILN_CODEGEN_LOWER_GUARDS_TIGHTEN_LOOP_BOUNDS_H_
#define KILN_CODEGEN_LOWER_GUARDS_TIGHTEN_LOOP_BOUNDS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Lets loops over the terms of a sum run only where a condition on their
// variable holds:
//
//   for y in 3:                        for y in [max(0, 1 - h), min(3, 15 -
//   h)):
//     if 1 <= h + y and h + y < 15:  →   S
//       S
//
// so that the taps of a convolution on padding are left out without a copy of
// the nest for each border. A serial loop is trimmed by the conjuncts
// `affine < affine` and the like that use its variable with the factor 1 or -1,
// and that load nothing, if what is stored does not move with it and there are
// serial loops inside, so that the iterations are worth their count.
absl::StatusOr<Function> TightenLoopBounds(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_TIGHTEN_LOOP_BOUNDS_H_
