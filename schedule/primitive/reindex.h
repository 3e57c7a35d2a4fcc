// reindex: a tensor in the order in which a block's iterators run through it.
//
//   for i, j, k:                        for ax0, ax1:
//     with T.block("C"):                  with T.block("B_reindex_reindex"):
//       vi, vj, vk = "SSR"(i, j, k)         v0, v1 = "SS"(ax0, ax1)
//       C[vi, vj] += A[vi, vk]              B_reindex[v0, v1] = B[v1, v0]
//                    * B[vk, vj]   =>   for i, j, k:
//                                         with T.block("C"): ...
//                                           C[vi, vj] += A[vi, vk]
//                                                        * B_reindex[vj, vk]
//
// (here what the block reads as number 1.) The new tensor has a dimension for
// each iterator that the indices name, in the order of the iterators. A written
// tensor is copied back after the block's nest, or, where others in the nest
// use it, element by element right behind the block. Refuses what
// FindElementAccess (element_access.h) refuses; a block that does not run for
// all values of its iterators; reads that are not known to stay within the
// tensor; writes that may meet in one element; reads under a condition of what
// no block before is known to have written as a whole; and other blocks below
// the same outermost loop that use the tensor in a way that the copy would
// change.
#ifndef KILN_SCHEDULE_PRIMITIVE_REINDEX_H_
#define KILN_SCHEDULE_PRIMITIVE_REINDEX_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

struct ReindexResult {
  Function function;
  BlockId copy;
};

absl::StatusOr<ReindexResult> Reindex(const Function& f, BlockId block,
                                      int index, bool is_write);

// reindex_cache_read, reindex_cache_write: the same with a layout that is
// given, in other memory. `map` takes the iterators of the block:
//
//   lambda i, j: (j, i // 2, i % 2)    B_shared[vj, vi // 2, vi % 2] = B[vi,
//   vj]
//
// Refuses in the same cases, and a map that uses other iterators than those
// that choose the element or gives one place to two of their values.
absl::StatusOr<ReindexResult> ReindexCache(const Function& f, BlockId block,
                                           int index, bool is_write,
                                           const std::string& memory,
                                           const IndexMap& map);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_REINDEX_H_
