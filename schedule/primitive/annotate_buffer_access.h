// annotate_buffer_access: what a block reads or writes, told by hand.
//
//   T.reads(X[vi, 0:32])                    X[vi, T.min(vj * 2 + 1, 31)] ...
//   =>  annotate_buffer_access(block, 0, "read",
//           lambda vi, vj: [(vi, vi + 1), (vj * 2 - 1, vj * 2 + 3)])
//   T.reads(X[vi, vj * 2 - 1:vj * 2 - 1 + 4])
//   T.block_attr({"explicit_read_region": [0]})
//
// `ranges` gives a begin and an end for each dimension, over the iterators of
// the block. Later steps rely on the region, so it is checked: by proof, or,
// where indices are beyond the arithmetic of index expressions (rounded
// floats, say), by running them for every value of their variables.
//
// Refuses: an index out of range; a map of other size; a region that does not
// hold what the block loads or stores, or is not known to; tensors that are
// taken as a whole (views, addresses). What is told to be written may be more
// than the stores reach: later steps that need all of it written look there.
#ifndef KILN_SCHEDULE_PRIMITIVE_ANNOTATE_BUFFER_ACCESS_H_
#define KILN_SCHEDULE_PRIMITIVE_ANNOTATE_BUFFER_ACCESS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

absl::StatusOr<Function> AnnotateBufferAccess(const Function& f, BlockId block,
                                              int index, bool is_write,
                                              const IndexMap& ranges);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_ANNOTATE_BUFFER_ACCESS_H_
