// fuse: loops that stand directly inside each other become one.
//
//   for i, j in T.grid(8, 16): body(i, j)
//   =>
//   for i_j_fused in range(128): body(i_j_fused // 16, i_j_fused % 16)
//
// Refuses: loops that are not given outermost first, each the only statement
// in the one before; a loop that does not start at 0, has annotations, or is
// bound to a thread axis; loops of different kinds (those of one kind give a
// loop of that kind); an extent that depends on another of the loops;
// extents whose product is beyond 64 bits; two extents that may be negative.
#ifndef KILN_SCHEDULE_PRIMITIVE_FUSE_H_
#define KILN_SCHEDULE_PRIMITIVE_FUSE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct FuseOptions {
  // Keep variables of loops of extent 1 in bindings.
  bool preserve_unit_iters = true;
};

struct FuseResult {
  Function function;
  LoopId loop;
};

absl::StatusOr<FuseResult> Fuse(const Function& f,
                                const std::vector<LoopId>& loops,
                                FuseOptions options = {});

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_FUSE_H_
