// What a loss by classes and its gradient have in common.
#ifndef KILN_IR_OPS_NETWORK_LOSS_H_
#define KILN_IR_OPS_NETWORK_LOSS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// "none", "sum" or "mean".
absl::StatusOr<std::string> ReductionOfLoss(const OpCall& call);

// Predictions (N, C, d...) or (C,) are argument `first`, targets (N, d...) or
// () the next one, weights (C,) perhaps the one after. Refuses what does not
// fit; CheckClasses also weights of another number of classes.
absl::Status CheckLoss(const OpCall& call, size_t first);
absl::Status CheckClasses(const OpCall& call, size_t first);

// The same as tensors, at the indices of the targets.
struct ClassLoss {
  te::Tensor predictions, targets;
  std::optional<te::Tensor> weights;
  int64_t ignored;

  Expr Target(const std::vector<Expr>& i) const;
  // `value`, and 0 where the target is one that is ignored.
  Expr Unless(const std::vector<Expr>& i, const Expr& value) const;
  Expr Weight(const std::vector<Expr>& i) const;
  // The prediction of class `c`.
  Expr Prediction(std::vector<Expr> i, const Expr& c) const;
  int ClassAxis() const { return predictions.shape().size() == 1 ? 0 : 1; }
};
absl::StatusOr<ClassLoss> ClassLossOf(const OpCall& call,
                                      const std::vector<te::Tensor>& inputs,
                                      size_t first);

// The sum of all elements; `x` itself where it has one and no dimensions.
te::Tensor SumOfAll(const te::Tensor& x, const std::string& name);

}  // namespace kiln

#endif  // KILN_IR_OPS_NETWORK_LOSS_H_
