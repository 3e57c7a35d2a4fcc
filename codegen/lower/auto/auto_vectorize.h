#ifndef KILN_CODEGEN_LOWER_AUTO_AUTO_VECTORIZE_H_
#define KILN_CODEGEN_LOWER_AUTO_AUTO_VECTORIZE_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Makes a vectorized loop where a loop nest has none and one of its loops
// offers itself, so that code generation depends on no later vectorizer:
//
//   for j in 100, k:                      for j_o in 6, k:
//     C[i, j] += A[i, k] * B[k, j]   →      for j in vectorized(16): ...
//                                         for k:
//                                           for j in vectorized(4): ...
//
// A loop of a perfect nest offers itself when it is serial or unrolled, has a
// constant extent of at least 4 and independent iterations, all stores run
// along it with stride 1, all loads with stride 1 or 0, and no branch, bound or
// external call depends on it. The one that fills vectors best is taken, with
// the lanes of `ChooseLanes` (base/lowering_policy.h). The order in which each
// element is accumulated stays as it is.
absl::StatusOr<Function> AutoVectorize(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_AUTO_AUTO_VECTORIZE_H_
