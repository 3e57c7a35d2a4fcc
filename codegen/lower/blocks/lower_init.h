#ifndef KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_
#define KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Turns the init of every block into a statement at the start of its body that
// runs where all reduce iterators have their first values:
//   with T.init(): C[i] = 0          if k == 0: C[i] = 0
//   C[i] = C[i] + A[i, k]      →     C[i] = C[i] + A[i, k]
// Where dimensions of tensors decide how often loops of the reduction run, and
// may be 0, a nest of its own ahead of them gives the elements their first
// values:
//   for i, k in T.grid(4, n): ...  →  if n <= 0:
//                                         for i in range(4): C[i] = 0
//                                     for i, k in T.grid(4, n): ...
// Other loops with the extent 0, a constant one or one that depends on loops,
// run nothing, and nothing stands for them.
absl::StatusOr<Function> LowerInit(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_
