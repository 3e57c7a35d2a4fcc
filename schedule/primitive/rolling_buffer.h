// rolling_buffer: what one iteration has computed, kept for the next.
//
//   for io in range(2):                            B is (10,)
//       for ax in range(6): B[io * 4 + ax] = f(A, io * 4 + ax)
//       for ii, k in T.grid(4, 3): C[io * 4 + ii] += B[io * 4 + ii + k]
//   =>  rolling_buffer(B, write_buffer_index=0)
//   for io in range(2):                            B is (6,)
//       for ax in range(6):
//           if io < 1 or 2 <= ax: B[(io * 4 + ax) % 6] = f(...)
//       for ii, k in T.grid(4, 3): C[io * 4 + ii] += B[(io * 4 + ii + k) % 6]
//
// Along each dimension the block writes step * loop + inner, for at most one
// of the loops that it shares with all readers. Where inner runs further than
// the step, iterations of that loop overlap, and the later one leaves out what
// is there already. The dimension of the outermost such loop becomes a ring.
// Iterators that carry it are opaque from then on: their order counts.
//
// Refuses: a tensor that the enclosing block does not allocate, that others
// write, or that nobody reads; a scope in which reads are not covered by what
// was written in the same iteration, or are overwritten; a block that runs
// under another condition than the domains of its iterators, writes several
// tensors or anything but one element chosen by its spatial iterators, or adds
// to what was there; bindings of other forms than the above, or that share a
// loop; views; reduce iterators that a shared loop moves; a loop from the
// ring's on that does not run in order; and tensors of which no two iterations
// overlap.
#ifndef KILN_SCHEDULE_PRIMITIVE_ROLLING_BUFFER_H_
#define KILN_SCHEDULE_PRIMITIVE_ROLLING_BUFFER_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> RollingBuffer(const Function& f, BlockId block,
                                       int index);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_ROLLING_BUFFER_H_
