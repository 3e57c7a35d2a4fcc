#ifndef KILN_CODEGEN_LOWER_STORAGE_COMPACT_BUFFERS_H_
#define KILN_CODEGEN_LOWER_STORAGE_COMPACT_BUFFERS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Shrinks every allocation to the box that its accesses touch while the loops
// inside of it run, and moves their indices to the origin of that box:
//
//   for i: allocate C[128, 64]:             for i: allocate C[4, 64]:
//     for r in 4, j in 64:            →       for r in 4, j in 64:
//       C[i*4 + r, j] = ...                     C[r, j] = ...
//
// An allocation that, in one iteration of the loop around it, reads more than
// it writes moves out of that loop first, which has to carry what is read:
//   for i: allocate T: T[i] = ...; B[i] = T[i - 1]   →   allocate T: for i: ...
//
// A dimension stays as it is when its box is unbounded, has no constant extent,
// or depends on what is computed inside. Buffers with strides, or whose address
// is taken, stay as they are. Expects no blocks, and n-dimensional buffers.
absl::StatusOr<Function> CompactBuffers(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_STORAGE_COMPACT_BUFFERS_H_
