#ifndef KILN_CODEGEN_LOWER_GUARDS_SPLIT_AT_BORDERS_H_
#define KILN_CODEGEN_LOWER_GUARDS_SPLIT_AT_BORDERS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A serial loop that has its interior first and then its border becomes two
// loops, of which the first asks for nothing:
//
//   for v in (n + 7) // 8:               for v in min(n // 8, (n + 7) // 8):
//     if 0 <= n - v*8 - 8: S(v)     →      S(v)
//     else: T(v)                         for v in n // 8 .. (n + 7) // 8: T(v)
//
// Loops of constant extent around others stay whole: what they ask takes little
// of their time, and prefetching goes on from one iteration to the next. A
// parallel loop loses its last iteration, where only that is a border.
absl::StatusOr<Function> SplitAtBorders(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_GUARDS_SPLIT_AT_BORDERS_H_
