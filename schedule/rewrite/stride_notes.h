// Strides that storage_align asked for, of tensors that a block writes no more.
#ifndef KILN_SCHEDULE_REWRITE_STRIDE_NOTES_H_
#define KILN_SCHEDULE_REWRITE_STRIDE_NOTES_H_

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// The annotation of storage_align: [[written tensor, axis, factor, offset]..],
// the first counted in the order of the block's writes.
inline constexpr char kStrideAnnotation[] = "buffer_dim_align";

// `block` is to become `fields`. Takes off the strides of those tensors in the
// place of which another one is written: they were asked of the old one.
//
//   T.writes(C_local[..])    notes [[0, 1, 32, 16]]    →    T.writes(C[..])
void DropStridesOfReplaced(const BlockNode& block, BlockFields* fields);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_STRIDE_NOTES_H_
