// What ops that normalize ask of their arguments, and do at their end.
#ifndef KILN_IR_OPS_NETWORK_NORM_H_
#define KILN_IR_OPS_NETWORK_NORM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// Argument 0 is a tensor of floats, the others are tensors of its type over its
// dimensions `axes`. False where it is not certain that extents are equal;
// refuses those that never are.
absl::StatusOr<bool> CheckNorm(const OpCall& call,
                               const std::vector<int>& axes);

// The data where its extents are certain, else only its rank.
absl::StatusOr<graph::StructInfo> NormInfo(const OpCall& call,
                                           const std::vector<int>& axes);

// normal * gamma + beta, by the attributes `scale` and `center`; `normal` is
// cast to the type of the factors first.
struct Affine {
  te::Tensor gamma, beta;
  bool scales, centers;
  Expr Of(const Expr& normal, const std::vector<Expr>& at) const;
};
absl::StatusOr<Affine> AffineOf(const OpCall& call,
                                const std::vector<te::Tensor>& inputs);

}  // namespace kiln

#endif  // KILN_IR_OPS_NETWORK_NORM_H_
