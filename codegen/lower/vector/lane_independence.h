// Whether the iterations of a loop may run side by side.
#ifndef KILN_CODEGEN_LOWER_VECTOR_LANE_INDEPENDENCE_H_
#define KILN_CODEGEN_LOWER_VECTOR_LANE_INDEPENDENCE_H_

#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// True when no iteration of `loop` touches an element that another iteration
// writes, so that running its statements with all values of the loop variable
// at once gives what running them one after the other gives. Decided on the
// linear forms of flat indices; false also means "cannot tell". Buffers that
// the body allocates are private to an iteration. Expects one index for each
// access and constant extents of the loop.
bool IterationsAreIndependent(const ForNode& loop);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_LANE_INDEPENDENCE_H_
