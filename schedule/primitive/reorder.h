// reorder: loops of one nest change places.
//
//   for i, j, k in T.grid(8, 16, 32): body
//   =>  reorder(k, i)
//   for k, j, i in T.grid(8, 16, 32): body     # each with its own extent
//
// The given loops take the places that they had together, in the new order;
// loops between them that are not named keep theirs. Loops keep their ids.
// Refuses: a loop named twice; loops that are not in one chain where each is
// the only statement of the one above; an extent that would come to depend on
// an inner loop; blocks below that have opaque iterators or whose bindings are
// not affine in the loops from the outermost to the innermost of those named;
// several blocks below where values pass from one iteration to another; a
// reduction whose init does not come first, or which a loop that moves none of
// its iterators repeats; statements outside of blocks.
#ifndef KILN_SCHEDULE_PRIMITIVE_REORDER_H_
#define KILN_SCHEDULE_PRIMITIVE_REORDER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> Reorder(const Function& f,
                                 const std::vector<LoopId>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_REORDER_H_
