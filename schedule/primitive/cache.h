// Staging a tensor through another buffer.
#ifndef KILN_SCHEDULE_PRIMITIVE_CACHE_H_
#define KILN_SCHEDULE_PRIMITIVE_CACHE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct CacheResult {
  Function function;
  BlockId cache_block;  // the copy
};

// Copies the `index`-th tensor that `block` reads into a new buffer of
// `scope`, from which `consumers` (none given: all readers) read:
//
//   for i: B[i] = A[i] * 2      ->   for ax0: A_shared[v0] = A[v0]
//                                    for i: B[i] = A_shared[i] * 2
//
// The copy stands before the first reader, right where the tensor has been
// written, or at the start of the enclosing block when it comes from outside:
// then it holds the box that the enclosing block says to read, or, where that
// says nothing, all of it but what conditions leave out (read_box.h). Refuses
// an index out of range, an unknown scope, several writers, consumers that do
// not stand directly in the enclosing block, and readers that run before all
// they read is written.
absl::StatusOr<CacheResult> CacheRead(const Function& f, BlockId block,
                                      int index, const std::string& scope,
                                      const std::vector<BlockId>& consumers);

// Makes `block` write its `index`-th output to a new buffer of `scope`, and
// copies that to the output afterwards. `consumers` read the new buffer, all
// others the output:
//
//   for i: B[i] = A[i] * 2      ->   for i: B_local[i] = A[i] * 2
//                                    for ax0: B[v0] = B_local[v0]
//
// Refuses an index out of range, an unknown scope, other writers of the
// output, readers that come before the block, a block that adds to what was
// there (a sum that begins before the enclosing block, say), and a block that
// may leave gaps in the box that it writes. What its predicate cuts off at the
// ends of that box is not copied.
absl::StatusOr<CacheResult> CacheWrite(const Function& f, BlockId block,
                                       int index, const std::string& scope,
                                       const std::vector<BlockId>& consumers);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_CACHE_H_
