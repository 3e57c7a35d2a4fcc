// pad_domain: rounds the extents of a sum's iterators up to multiples, whatever
// indexes it reads tensors at.
//
//   for i, k in T.grid(7, 3):           for i, k in T.grid(8, 4):
//     with T.block("C"):                  with T.block("C"):
//       C[vi] += A[vi + vk] * B[vk]  =>     C_pad[vi] += if_then_else(
//                                               vi < 7 and vk < 3,
//                                               A[vi + vk] * B[vk], 0)
//                                       for i: C[v0] = C_pad[v0]
//
// (here with padding [2, 2].) Where pad_einsum pads the tensors that are read,
// this puts what is added under a condition, which is why tensors may be read
// anywhere. It tests the reductions that grow, and a spatial iterator that
// grows where a read with it is not known to be within an argument. Refuses
// what pad_einsum refuses of paddings, nests and outputs, blocks that are no
// sum of one tensor, and sums of floats where numerics are strict and a
// reduction grows.
#ifndef KILN_SCHEDULE_PRIMITIVE_PAD_DOMAIN_H_
#define KILN_SCHEDULE_PRIMITIVE_PAD_DOMAIN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> PadDomain(const Function& f, BlockId block,
                                   const std::vector<int64_t>& padding);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_PAD_DOMAIN_H_
