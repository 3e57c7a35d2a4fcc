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

}  // namespace kiln

#endif  // KILN_IR_COMPARE_SPELLING_H_
