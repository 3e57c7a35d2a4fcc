// add_unit_loop: a loop of one iteration around a loop or block.
//
//   body   =>   for u in range(1): body
//
// Refuses the root block.
#ifndef KILN_SCHEDULE_PRIMITIVE_ADD_UNIT_LOOP_H_
#define KILN_SCHEDULE_PRIMITIVE_ADD_UNIT_LOOP_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct AddUnitLoopResult {
  Function function;
  LoopId loop;
};

absl::StatusOr<AddUnitLoopResult> AddUnitLoopAboveBlock(const Function& f,
                                                        BlockId block);
absl::StatusOr<AddUnitLoopResult> AddUnitLoopAboveLoop(const Function& f,
                                                       LoopId loop);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_ADD_UNIT_LOOP_H_
