// Dimensions of a tensor that one index takes apart.
#ifndef KILN_IR_ARITH_SPLIT_DIMS_H_
#define KILN_IR_ARITH_SPLIT_DIMS_H_

#include <cstdint>
#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln {

// Takes neighbouring dimensions together whose indices are the digits of one
// number, which then is the index of both:
//
//   A[v // 7, v % 7, k] of shape [7, 7, 512]  ->  A[v, k] of shape [49, 512]
//
//   A[i * 2 + v // 7, v % 7] of shape [8, 7]  ->  A[i * 14 + v] of shape [56]
//
// Elements keep their order. `indices` and `shape` are of one length, before
// and after.
void MergeSplitDims(std::vector<Expr>* indices, std::vector<int64_t>* shape);

}  // namespace kiln

#endif  // KILN_IR_ARITH_SPLIT_DIMS_H_
