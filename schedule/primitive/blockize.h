// blockize: a nest around a block becomes a block.
//
//   for i_0, i_1 in T.grid(8, 16):       for i_0 in range(8):
//     with T.block("B"):                   with T.block("B_o"):
//       vi = spatial(128, i_0 * 16 + i_1)    vi_o = spatial(8, i_0)
//       B[vi] = A[vi]                 =>     T.reads(A[vi_o * 16:vi_o * 16 +
//       16])
//                                            T.writes(B[vi_o * 16:vi_o * 16 +
//                                            16]) for i_1 in range(16):
//                                              with T.block("B"):
//                                                vi_i = spatial(16, i_1)
//                                                B[vi_o * 16 + vi_i] = ...
//
// (here at loop i_1). Each iterator is divided into one of the new block, which
// the loops above `loop` move, and one of the block, which keeps its id. The
// init of a reduction becomes the init of the new block: a nest over the
// spatial iterators. Refuses: a loop with more than one block or other
// statements below it; a binding that does not divide; a condition on loops
// from `loop` on; loops from there on that outer ones may leave without an
// iteration; an init that does not come first; and where the block leaves
// gaps in the box that it writes, since the new block says to write all of it.
#ifndef KILN_SCHEDULE_PRIMITIVE_BLOCKIZE_H_
#define KILN_SCHEDULE_PRIMITIVE_BLOCKIZE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct BlockizeResult {
  Function function;
  BlockId block;  // the new one
};

// With `preserve_unit_iters` the block keeps iterators of one value.
absl::StatusOr<BlockizeResult> Blockize(const Function& f, LoopId loop,
                                        bool preserve_unit_iters = true);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_BLOCKIZE_H_
