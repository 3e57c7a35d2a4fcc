// Tiles that a border whose place is known in a call only cuts short.
#ifndef KILN_SEARCH_TASK_OPEN_TAILS_H_
#define KILN_SEARCH_TASK_OPEN_TAILS_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether some tile can be cut short in more ways than lowering makes copies
// for (kMaxTailCounts), so that each of its vectors asks for itself whether it
// is inside:
//
//   for j0 in (n + 31) // 32: for j1 in unroll(4): for l in vectorized(8):
//     where j0*32 + j1*8 + l < n               1 to 31 columns
bool HasTooManyTails(const Function& scheduled);

// Whether an axis of open extent became one with others, as that of a tensor of
// n * 784 rows is: its tiles begin and end anywhere in an image, and lowering
// does not see what one of them needs.
bool MergesOpenAxes(const Function& scheduled);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_OPEN_TAILS_H_
