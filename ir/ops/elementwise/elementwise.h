// What the files of elementwise ops share. Internal to ir/ops/elementwise.
#ifndef KILN_IR_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define KILN_IR_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// Refuses a call without two arguments.
absl::Status CheckTwo(const OpCall& call);

// What argument 0 is; a tensor.
absl::StatusOr<graph::StructInfo> InferLike(const OpCall& call);
// The same of floats.
absl::StatusOr<graph::StructInfo> InferLikeFloat(const OpCall& call);
// All arguments together, of the type that they have in common.
absl::StatusOr<graph::StructInfo> InferBinary(const OpCall& call);

Lowered OneByOne(const te::Tensor& x, FunctionRef<Expr(const Expr&)> map);

// map of the elements of all arguments, tensors and numbers. Unimplemented
// where a number is not known, or where arguments differ in type, but for the
// first one with `has_condition`.
absl::StatusOr<Lowered> Together(
    const OpCall& call, const std::vector<te::Tensor>& in,
    FunctionRef<Expr(const std::vector<Expr>&)> map,
    bool has_condition = false);

}  // namespace kiln

#endif  // KILN_IR_OPS_ELEMENTWISE_ELEMENTWISE_H_
