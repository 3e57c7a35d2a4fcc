// Loops cut by conditions whose outcome their variable decides. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_GUARDS_NARROW_LOOP_RANGES_H_
#define KILN_CODEGEN_LOWER_GUARDS_NARROW_LOOP_RANGES_H_

#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// `s`, which stands in the loops `outer`. Its serial and unrolled loops around
// an `if` without else run for those values of their variable alone for which a
// conjunct holds whatever the variables of other loops are, where it never
// holds for the other values:
//
//   for i in 3 (with h of 12 and 13):        for i in 2:
//     if h + 2*i < 16 and c: S          →      if c: S
//
// so that what is asked of other loops need not hold beyond. First and last
// values go for which a condition on inner loops as well never holds.
Stmt NarrowLoopRanges(const Stmt& s, const LoopStack& outer,
                      const FewerValues& fewer);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_GUARDS_NARROW_LOOP_RANGES_H_
