// How often conditions are asked that lowering leaves in a function.
#ifndef KILN_CODEGEN_LOWER_GUARDS_ASKED_CONDITIONS_H_
#define KILN_CODEGEN_LOWER_GUARDS_ASKED_CONDITIONS_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// How often one call of a lowered function asks conditions of `if` statements
// and choices, those of vectors counted once:
//
//   for i in range(8):
//     if 0 < i:                      8
//       for j in range(4):
//         if j < n: S(i, j)          28
//
// The iterations of a parallel loop are shared out: the longest share counts.
// Conditions on prefetches alone are left out, which cost next to nothing.
// Branches are taken as often as their conditions hold by themselves. Of a loop
// whose extent a call tells, one iteration counts.
double AskedConditions(const Function& lowered, int threads);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_ASKED_CONDITIONS_H_
