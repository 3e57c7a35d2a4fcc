// pad_einsum: rounds the extents of a block's iterators up to multiples.
//
//   for i, j, k in T.grid(6, n, 8):      for i0, i1: B_pad[v0, v1] =
//     with T.block("C"):                     if_then_else(v0 < n, B[v0, v1], 0)
//       C[vi, vj] += A[vi, vk]       =>  for i, j, k in T.grid(6, (n+3)//4*4,
//       8):
//                    * B[vj, vk]           with T.block("C"):
//                                            C_pad[vi, vj] += A[vi, vk]
//                                                             * B_pad[vj, vk]
//                                        for i0, i1: C[v0, v1] = C_pad[v0, v1]
//
// (here with padding [1, 4, 1].) Tensors that the block reads are padded by
// zeros, what it writes is copied back without the padding. Refuses: paddings
// below 1 or of another number than the iterators; iterators without loops of
// their own (private_nest.h); tensors that are not read and written at one
// place, where iterators that grow are indices alone, over the whole dimension;
// spatial iterators that grow and index no output; sums
// over a padded iterator that padding could change, which is all but products
// of padded operands; and divisions of integers by what may be padding.
#ifndef KILN_SCHEDULE_PRIMITIVE_PAD_EINSUM_H_
#define KILN_SCHEDULE_PRIMITIVE_PAD_EINSUM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> PadEinsum(const Function& f, BlockId block,
                                   const std::vector<int64_t>& padding);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_PAD_EINSUM_H_
