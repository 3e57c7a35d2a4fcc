// loop_partition: a loop as several loops, one after the other.
//
//   for i in range(384): with T.block("B"): vi = spatial(384, i) ...
//   =>  loop_partition(i, [1, 51])
//   with T.block("B_i_common"):
//       with T.block("B_i0_partition"):
//           for i0 in range(1): with T.block("B_i0"): ...
//       with T.block("B_i1_partition"):
//           for i1 in range(1, 52): with T.block("B_i1"): ...
//       with T.block("B_i2_partition"):
//           for i2 in range(52, 384): with T.block("B_i2"): ...
//
// `factors` are lengths; what is left is the last part. One of them may be
// left open (None) and is then what the others leave, and the last of the
// factors is the last part. An iterator that is the loop's variable runs
// through the part only. The blocks around the parts keep one writer for each
// tensor in the scope; they say what the parts read and write. Gives the
// loops.
//
// Refuses: a loop with a start other than 0, annotations or a kind of its own;
// an extent or bounds of loops around it that are not constant; parts that are
// not positive, or leave nothing for the last one; a loop without blocks, or
// with tensors, views or other statements than loops and blocks below it; a
// loop that moves anything but spatial iterators; and blocks that may leave
// gaps in what they write.
#ifndef KILN_SCHEDULE_PRIMITIVE_LOOP_PARTITION_H_
#define KILN_SCHEDULE_PRIMITIVE_LOOP_PARTITION_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct LoopPartitionResult {
  Function function;
  std::vector<LoopId> loops;
};

absl::StatusOr<LoopPartitionResult> LoopPartition(
    const Function& f, LoopId loop,
    const std::vector<std::optional<int64_t>>& factors);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_LOOP_PARTITION_H_
