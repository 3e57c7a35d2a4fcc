// Operations on numbers that are known, as numbers.
#ifndef KILN_IR_INTERP_FOLD_H_
#define KILN_IR_INTERP_FOLD_H_

#include "kiln/ir/expr/expr.h"

namespace kiln {

// `e`, where conversions of constants and the bounds of types are constants,
// and floats that change nothing are gone:
//
//   T.Cast("float32", 9)        T.float32(9)
//   T.min_value("int8")         T.int8(-128)
//   x / T.float32(1)            x
//
// Every value stays what the interpreter makes of it, to the bit.
Expr FoldNumbers(const Expr& e);

}  // namespace kiln

#endif  // KILN_IR_INTERP_FOLD_H_
