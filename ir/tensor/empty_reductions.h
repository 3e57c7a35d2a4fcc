// What a reduction over nothing is.
#ifndef KILN_IR_TENSOR_EMPTY_REDUCTIONS_H_
#define KILN_IR_TENSOR_EMPTY_REDUCTIONS_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// A reduction over a dimension of a tensor, or to a number given as a
// parameter, which is 0 in a call, has the value of its init. The loops say
// nothing of it, since they have no iteration; nests that run the init where
// that is so are put ahead of them:
//
//                                     if n <= 0:
//                                       for i in range(4): C[i] = 0
//   for i, k in grid(4, n):       →   for i, k in grid(4, n):
//     block C: sum of A[i, k]           block C: sum of A[i, k]
//
// Extents that are 0 by the program's own making (range(0), range(i % 2)) run
// nothing by its author's will.
Function BeginEmptyReductions(Function f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_EMPTY_REDUCTIONS_H_
