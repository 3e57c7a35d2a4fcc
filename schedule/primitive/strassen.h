// strassen: a product of matrices by seven products of half the size, where
// quadrants by the definition take eight.
//
//   for i, j, k in T.grid(8, 6, 4):     for p, i, k: A_sums[p, i, k] =
//     with T.block("C"):                  A[i, k] + A[i + 4, k + 2] for p = 0
//     ..
//       C[vi, vj] += A[vi, vk]          for p, k, j: B_sums[p, k, j] = ..
//                    * B[vk, vj]   =>   for p, i, j, k in T.grid(7, 4, 3, 2):
//                                         with T.block("C"):
//                                           C_products[vp, vi, vj] +=
//                                             A_sums[vp, vi, vk]
//                                             * B_sums[vp, vk, vj]
//                                       for i1, i, j1, j: with
//                                       T.block("C_join"):
//                                         C[i1 * 4 + i, j1 * 3 + j] =
//                                           C_products[0, i, j] + ..
//
// `axes` are the positions of the row, the column and the sum (here [0, 1, 2])
// among the iterators. Other iterators, such as batches, stay as they are; the
// result has a product again, with a batch more. Integers stay exact, those of
// 64 bits apart, which are refused (their overflow is undefined). Errors of
// floating-point sums are no longer small beside their own terms, only beside
// the largest elements (N. Higham, Accuracy and Stability of Numerical
// Algorithms, 23.2.2), which the function has to allow (ir/tensor/numerics.h).
//
// The blocks that make sums and the one that joins products have the mark
// kStrassenParts (ir/tensor/marks.h).
//
// The method: V. Strassen, Gaussian elimination is not optimal, Numerische
// Mathematik 13 (1969).
//
// Refuses: blocks that are not a sum of products of an element of one tensor
// with an element of another; what FindElementAccess refuses
// (element_access.h), such as indices that depend on data; iterators without
// loops of their own (private_nest.h); axes of the wrong type, or without whole
// halves; tensors of which the three axes are not indices alone, over whole
// dimensions, each of two tensors; other spatial iterators that index no
// result; and tensors that are no arguments and touched in part only.
#ifndef KILN_SCHEDULE_PRIMITIVE_STRASSEN_H_
#define KILN_SCHEDULE_PRIMITIVE_STRASSEN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> Strassen(const Function& f, BlockId block,
                                  const std::vector<int64_t>& axes);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_STRASSEN_H_
