// Sums of products of 8-bit integers, with one operand stored in the other of
// int8 and uint8, where instructions multiply those with a sign by those
// without:
//
//   C[i, j] = sum of A[i, k] * B[k, j]      A and B of int8
//
//   →  A_offset[i, k] = uint8(A[i, k] + 128)
//      C_offset[j] = sum of B[k, j]
//      C_with_offset[i, j] = sum of A_offset[i, k] * B[k, j]
//      C[i, j] = C_with_offset[i, j] - C_offset[j] * 128
//
// `read_index` says which read of the block is A. The factor is an element of
// it, or a choice between one and a constant, as padding makes it; of uint8,
// 128 is taken off and its part added. Sums wrap to 32 bits, before as after.
//
// Refuses: blocks that are no sum of products int32(a) * int32(b), with b of at
// most 16 bits; iterators without loops of their own (private_nest.h); a read
// that is no factor of 8 bits, or both factors; spatial iterators that index no
// result; and tensors that are no arguments and touched in part only.
#ifndef KILN_SCHEDULE_PRIMITIVE_OFFSET_OPERAND_H_
#define KILN_SCHEDULE_PRIMITIVE_OFFSET_OPERAND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The block keeps its name and adds up into C_with_offset; the block that takes
// the offset off is C_less_offset.
absl::StatusOr<Function> OffsetOperand(const Function& f, BlockId block,
                                       int64_t read_index);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_OFFSET_OPERAND_H_
