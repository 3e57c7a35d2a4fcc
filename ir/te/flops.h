// How much arithmetic a function does.
#ifndef KILN_IR_TE_FLOPS_H_
#define KILN_IR_TE_FLOPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Arithmetic operations on values (not on indices or in conditions) in one
// call of `f`, at any level: 1 for each lane of + - * / min max and of each
// call such as exp, 2 for fma. So a multiply-add counts 2. Every iteration of
// a loop counts, whatever predicates say; of two branches the costlier one
// does. An extent that is not constant is an error.
absl::StatusOr<double> EstimateFlops(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TE_FLOPS_H_
