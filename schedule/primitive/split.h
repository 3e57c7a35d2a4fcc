// split: one loop becomes a nest of loops.
//
//   for i in range(128): body(i)
//   =>  factors {8, 16}
//   for i_0, i_1 in T.grid(8, 16): body(i_0 * 16 + i_1)
//
// One factor may be nullopt; it is then the extent divided by the others,
// rounded up. Where the product of the factors exceeds the extent, blocks get
// a predicate (T.where). Refuses: a loop that does not start at 0, has
// annotations, or is parallel, vectorized, unrolled or bound; factors below 1
// or whose product does not reach the extent; an inexact split over statements
// outside of blocks; `disable_predication` where the split is not known to be
// exact.
#ifndef KILN_SCHEDULE_PRIMITIVE_SPLIT_H_
#define KILN_SCHEDULE_PRIMITIVE_SPLIT_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct SplitOptions {
  // Keep variables of loops of extent 1 in bindings.
  bool preserve_unit_iters = true;
  // Give no predicate.
  bool disable_predication = false;
};

struct SplitResult {
  Function function;
  std::vector<LoopId> loops;  // outermost first
};

absl::StatusOr<SplitResult> Split(
    const Function& f, LoopId loop,
    const std::vector<std::optional<int64_t>>& factors,
    SplitOptions options = {});

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_SPLIT_H_
