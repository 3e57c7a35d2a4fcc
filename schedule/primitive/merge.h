// merge: loops that stand beside each other become one around what they hold.
//
//   for i, j in T.grid(8, 8): C(i, j)
//   for i, j in T.grid(8, 8): D(i, j)
//   =>  merge(the j of C, the j of D)
//   for i_m, j_m in T.grid(8, 8):
//       C(i_m, j_m)
//       D(i_m, j_m)
//
// The loops above the given ones, up to the sequence where their ways part, are
// merged with them. What they hold comes in program order, where the last of
// the nests stood.
//
// Refuses: fewer than two loops; loops of several blocks, or one inside
// another; ways that part at several places; nests of different depths, with
// other statements than the next loop in one of them, or whose loops do not
// start at 0, have annotations, are bound to threads, differ in kind or in
// extent. Where one nest writes what another reads or writes, it also refuses
// unless what flows between them stays within an iteration; and statements
// between the nests that have to stay behind or before one of them.
#ifndef KILN_SCHEDULE_PRIMITIVE_MERGE_H_
#define KILN_SCHEDULE_PRIMITIVE_MERGE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct MergeResult {
  Function function;
  LoopId loop;  // the innermost of the merged ones
};

absl::StatusOr<MergeResult> Merge(const Function& f,
                                  const std::vector<LoopId>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_MERGE_H_
