// decompose_padding: a padded copy as filling and copying.
//
//   for i in range(10):                    for i in range(10):
//     with T.block("P"):                     with T.block("P_pad_const"):
//       vi = T.axis.spatial(10, i)             P[vi] = 0
//       P[vi] = if_then_else(           => for i in range(8):
//           1 <= vi and vi < 9,              with T.block("P"):
//           A[vi - 1], 0)                      vi = T.axis.spatial(10, i + 1)
//                                              P[vi] = A[vi - 1]
//
// (here at loop i). The loops from `loop` inwards are copied for the filling,
// which comes first; the copy keeps the block's id and loops. Bounds on an
// iterator that runs with one loop shorten that loop, what else stands in the
// condition becomes a condition of the block. Refuses: a block that is not
// complete, is more than one store of T.if_then_else with a constant
// otherwise, or may write an element twice; and a loop that is not above the
// block, or has other blocks below it.
#ifndef KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_PADDING_H_
#define KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_PADDING_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct DecomposePaddingResult {
  Function function;
  BlockId fill;
};

absl::StatusOr<DecomposePaddingResult> DecomposePadding(const Function& f,
                                                        BlockId block,
                                                        LoopId loop);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_PADDING_H_
