// What can be said in several ways, said in one.
#ifndef KILN_IR_COMPARE_SPELLING_H_
#define KILN_IR_COMPARE_SPELLING_H_

#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// `s` where numbers are constants, the lesser side of a comparison comes first,
// and integers are compared with 0 as they are:
//
//   T.Cast("float32", 9)              T.float32(9)
//   a > b                             b < a
//   0 < T.Cast("int64", x)            0 < x, or x where it is a bool
Stmt InOneSpelling(const Stmt& s);

// `e` where the operands of its outermost operation on indices that may change
// places stand in the order of their text, the terms of a sum as one: 1 + b + a
// and b + 1 + a both become a + b + 1. The operands have this form already.
Expr InOneOrder(const Expr& e);

}  // namespace kiln

#endif  // KILN_IR_COMPARE_SPELLING_H_
