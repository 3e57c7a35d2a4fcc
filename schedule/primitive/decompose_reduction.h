// decompose_reduction: the initialization of a reduction becomes a block.
//
//   for i, k:                          for i:
//     with T.block("C"):                 with T.block("C_init"):
//       vi, vk = remap("SR", [i, k])       C[vi] = 0
//       with T.init(): C[vi] = 0    =>   for k:
//       C[vi] = C[vi] + A[vi, vk]          with T.block("C_update"):
//                                            C[vi] = C[vi] + A[vi, vk]
//
// (here at loop k). The new block stands before `loop`, in copies of those
// loops from `loop` inwards that move the spatial iterators. The block keeps
// its id for the update; the init block has a new one. Refuses: a block that
// is not a reduction; a loop that is not above the block; a loop above `loop`
// that moves a reduce iterator; a loop from `loop` inwards that moves no
// iterator, so that it repeats the sum; loops that do not begin with the init;
// ranges that tie the copied loops to those left out, or leave those without an
// iteration. Conditions may, and such ranges, where all that the init then
// writes in excess is elements of its own of a local tensor.
#ifndef KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_REDUCTION_H_
#define KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_REDUCTION_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct DecomposeReductionResult {
  Function function;
  BlockId init;
};

absl::StatusOr<DecomposeReductionResult> DecomposeReduction(const Function& f,
                                                            BlockId block,
                                                            LoopId loop);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_DECOMPOSE_REDUCTION_H_
