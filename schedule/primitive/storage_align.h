// storage_align: asks for a stride of a tensor that a block writes.
//
//   with T.block("B"): ...
//   =>  storage_align(block, buffer_index=0, axis=-2, factor=16, offset=4)
//   with T.block("B"):
//       T.block_attr({"buffer_dim_align": [[0, 0, 16, 4]]})
//
// The stride of dimension `axis` is to be `offset` modulo `factor`, so that
// rows do not meet in one bank or set of a cache. A note for later stages: the
// program computes the same. The same tensor and axis again replace the note;
// negative axes count from the end. Refuses: indices and axes out of range, a
// factor below 1, an offset outside of [0, factor), a tensor that the function
// does not allocate, and a block with another kind of note under that key.
#ifndef KILN_SCHEDULE_PRIMITIVE_STORAGE_ALIGN_H_
#define KILN_SCHEDULE_PRIMITIVE_STORAGE_ALIGN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> StorageAlign(const Function& f, BlockId block,
                                      int buffer_index, int64_t axis,
                                      int64_t factor, int64_t offset);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_STORAGE_ALIGN_H_
