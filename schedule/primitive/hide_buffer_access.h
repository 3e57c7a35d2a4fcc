// unsafe_hide_buffer_access: takes tensors off the list of what a block reads
// or writes.
//
//   T.reads(A[vi], S[0:4])       the body loads from A alone
//   =>  unsafe_hide_buffer_access(block, "read", [1])
//   T.reads(A[vi])
//
// Later steps go by these lists, so only what the block does not touch can be
// taken off. Refuses: indices out of range or given twice, and tensors that the
// block loads from, stores to, views or takes the address of. What a block with
// notes of storage_align writes stays on the list.
#ifndef KILN_SCHEDULE_PRIMITIVE_HIDE_BUFFER_ACCESS_H_
#define KILN_SCHEDULE_PRIMITIVE_HIDE_BUFFER_ACCESS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> HideBufferAccess(const Function& f, BlockId block,
                                          bool is_write,
                                          const std::vector<int64_t>& indices);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_HIDE_BUFFER_ACCESS_H_
