#ifndef KILN_CODEGEN_LOWER_GUARDS_FOLD_MODULO_GUARDS_H_
#define KILN_CODEGEN_LOWER_GUARDS_FOLD_MODULO_GUARDS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A loop of m iterations (at most 64) that does nothing but where a sum with
// its variable leaves one remainder when divided by m has one iteration:
//
//   for y in 2:                        for y in [p % 2]:
//     if (p + y) % 2 == 0: S     →       S
//
// as the taps of a transposed convolution that meet an output of phase p. Any
// such loop, whoever wrote it; but where the function is marked with kPhases
// (ir/tensor/marks.h), and no loop is such, the mark gives way to the reason.
absl::StatusOr<Function> FoldModuloGuards(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_FOLD_MODULO_GUARDS_H_
