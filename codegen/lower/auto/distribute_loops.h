#ifndef KILN_CODEGEN_LOWER_AUTO_DISTRIBUTE_LOOPS_H_
#define KILN_CODEGEN_LOWER_AUTO_DISTRIBUTE_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// What the copies of a buffer for all iterations may take together, in bytes.
inline constexpr int64_t kMaxExpandedBytes = 16 << 10;

// Gives each of the statements in a loop a loop of its own, where an update
// among them then finds a much better register tile (choose_tile.h):
//
//   for c_1 in 4:                          for c_1 in 4:
//     for c in 8: C[c_1*8 + c] = 0    →      for c in 8: C[c_1*8 + c] = 0
//     for k, c in 8:                       for c_1 in 4:
//       C[c_1*8 + c] += ...                  for k, c in 8: C[c_1*8 + c] += ...
//
// Iterations of the loop have to be independent. A buffer that is allocated
// inside gets a copy for each iteration, side by side with its rows.
absl::StatusOr<Function> DistributeLoops(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_AUTO_DISTRIBUTE_LOOPS_H_
