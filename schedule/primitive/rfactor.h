// rfactor: a reduction in two steps, with partial results in a tensor between.
//
//   for i, k0, k1:                       for i, k0, k1:
//     with T.block("C"):                   with T.block("C_rf"):
//       vi = spatial(i)                      vk1, vi = spatial(k1), spatial(i)
//       vk = reduce(k0 * 8 + k1)             vk0 = reduce(k0)
//       with T.init(): C[vi] = 0             with T.init(): C_rf[vi, vk1] = 0
//       C[vi] = C[vi] + A[vi, vk]   =>       C_rf[vi, vk1] = C_rf[vi, vk1]
//                                                + A[vi, vk0 * 8 + vk1]
//                                        for i, k1:
//                                          with T.block("C"):
//                                            vk1, vi = reduce(k1), spatial(i)
//                                            with T.init(): C[vi] = 0
//                                            C[vi] = C[vi] + C_rf[vi, vk1]
//
// (here at loop k1 with factor_axis 1, the place of the new dimension; negative
// ones count from the end). The block keeps its id for the second step, and so
// do its loops; C_rf and its loops are new. Refuses: a block that is no
// reduction or whose way of combining is not known to be associative; a loop
// that is not serial from 0, is not only moving reduce iterators, or has other
// blocks below it or below the reduction's loops; loops inside of the
// reduction that move nothing; a condition that may skip the init of a partial
// result; and argmin and argmax that keep the first of equal values, unless
// `loop` is the outermost of the reduction, so that the order stays.
#ifndef KILN_SCHEDULE_PRIMITIVE_RFACTOR_H_
#define KILN_SCHEDULE_PRIMITIVE_RFACTOR_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct RfactorResult {
  Function function;
  BlockId rf_block;  // computes the partial results
};

absl::StatusOr<RfactorResult> Rfactor(const Function& f, LoopId loop,
                                      int64_t factor_axis);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_RFACTOR_H_
