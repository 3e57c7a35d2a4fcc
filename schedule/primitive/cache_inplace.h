// cache_inplace: a tensor that a block changes in place, staged around it.
//
//   for i: F(A[i * 4 : i * 4 + 4])          reads and writes A
//   =>  cache_inplace(F, read_buffer_index=0, storage_scope="local")
//   for i:
//       for ax0 in range(4): A_local[i * 4 + ax0] = A[i * 4 + ax0]
//       F(A_local[i * 4 : i * 4 + 4])
//       for ax0 in range(4): A[i * 4 + ax0] = A_local[i * 4 + ax0]
//
// Both copies stand right beside the block, under the same condition, and move
// the box that it reads. Refuses: an index out of range, an unknown scope, the
// root, a tensor that the block does not both read and write or of which it
// writes more than it reads, a box that reaches beyond the tensor for all that
// is known, and loops around the block whose iterations run at once.
#ifndef KILN_SCHEDULE_PRIMITIVE_CACHE_INPLACE_H_
#define KILN_SCHEDULE_PRIMITIVE_CACHE_INPLACE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct CacheInplaceResult {
  Function function;
  BlockId copy_in, copy_out;
};

absl::StatusOr<CacheInplaceResult> CacheInplace(const Function& f,
                                                BlockId block, int index,
                                                const std::string& scope);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_CACHE_INPLACE_H_
