// Iterator maps that are injective at sight.
#ifndef KILN_IR_ARITH_ITER_MAP_DIGITS_H_
#define KILN_IR_ARITH_ITER_MAP_DIGITS_H_

#include <vector>

#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// Whether the bindings are sums of digits of the loops, as splits and fusions
// leave them behind, from which every loop can be put together again:
//
//   i_0 * 16 + i_1, f // 4, f % 4
//
// Needs no analyzer. False also means "cannot tell".
bool DetermineByDigits(const std::vector<Expr>& bindings,
                       const std::vector<LoopRange>& loops);

}  // namespace kiln

#endif  // KILN_IR_ARITH_ITER_MAP_DIGITS_H_
