// Tiles that a border whose place is known in a call only cuts short.
#ifndef KILN_SEARCH_TASK_OPEN_TAILS_H_
#define KILN_SEARCH_TASK_OPEN_TAILS_H_

#include <cstdint>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether some tile can be cut short in more ways than lowering makes copies
// for (kMaxTailCounts), so that each of its vectors asks for itself whether it
// is inside:
//
//   for j0 in (n + 31) // 32: for j1 in unroll(4): for l in vectorized(8):
//     where j0*32 + j1*8 + l < n               1 to 31 columns
bool HasTooManyTails(const Function& scheduled);

// Where all open dimensions are `size`, the part of the tiles of a block that
// ask for each vector whether it is inside: those that a border cuts short, of
// blocks whose borders together allow for more copies than lowering makes. Of
// the block that has most of them.
double UncopiedShare(const Function& scheduled, int64_t size);

// Whether an axis of open extent became one with others, as that of a tensor of
// n * 784 rows is: its tiles begin and end anywhere in an image, and lowering
// does not see what one of them needs.
bool MergesOpenAxes(const Function& scheduled);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_OPEN_TAILS_H_
