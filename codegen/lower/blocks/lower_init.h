#ifndef KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_
#define KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Turns the init of every block into a statement at the start of its body that
// runs where all reduce iterators have their first values:
//   with T.init(): C[i] = 0          if k == 0: C[i] = 0
//   C[i] = C[i] + A[i, k]      →     C[i] = C[i] + A[i, k]
// Reductions over nothing begin, too: ir/tensor/empty_reductions.h.
absl::StatusOr<Function> LowerInit(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_LOWER_INIT_H_
