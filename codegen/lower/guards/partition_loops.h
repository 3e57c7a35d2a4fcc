#ifndef KILN_CODEGEN_LOWER_GUARDS_PARTITION_LOOPS_H_
#define KILN_CODEGEN_LOWER_GUARDS_PARTITION_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Copies that partition makes stop at this many statements in one function,
// counted as unrolled; those that spare lanes of a vector a condition each, at
// twice as many.
inline constexpr int64_t kMaxPartitionedStatements = 3072;

// Separates the interior of loop nests, where border conditions hold for every
// inner iteration, from the border:
//
//   for i:                               for i:
//     for v in 16:                         if i*16 + 15 < n:
//       if i*16 + v < n: S(i, v)    →        for v in 16: S(i, v)
//                                          else:
//                                            for v in 16:
//                                              if i*16 + v < n: S(i, v)
//
// A border of which only a call tells how much of a tile it is gets code of its
// own for each number of iterations that remain, where the tile is unrolled:
//
//   if 0 <= n - i*4 - 4: 4 rows
//   else if 0 <= n - i*4 - 3: 3 rows
//   ...
//
// Looks at conjuncts `affine < affine`, `==` and the like in `if` statements
// and in if_then_else (the padding of a convolution). Each is tested in the
// outermost loop where the test, made for all inner iterations at once, still
// covers at least half of what it could cover. An equality is tested for being
// false everywhere (the first step of a reduction).
absl::StatusOr<Function> PartitionLoops(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_PARTITION_LOOPS_H_
