// reorder_block_iter_var: the iterators of a block in another order.
//
//   vi, vj, vk = T.axis.remap("SSR", [i, j, k])
//   =>  new_order = [2, 0, 1]
//   vk, vi, vj = T.axis.remap("RSS", [k, i, j])
//
// Loops and accesses stay as they are: only what later steps take from the
// order of iterators (index maps, reindex, pad_einsum) changes. Refuses
// anything but a permutation of the iterators' numbers.
#ifndef KILN_SCHEDULE_PRIMITIVE_REORDER_BLOCK_ITER_VAR_H_
#define KILN_SCHEDULE_PRIMITIVE_REORDER_BLOCK_ITER_VAR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `new_order[i]`: the number, from 0, of the iterator that comes to place i.
absl::StatusOr<Function> ReorderBlockIterVar(
    const Function& f, BlockId block, const std::vector<int64_t>& new_order);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_REORDER_BLOCK_ITER_VAR_H_
