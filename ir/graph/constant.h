// Tensors that a program holds: their elements, one by one.
#ifndef KILN_IR_GRAPH_CONSTANT_H_
#define KILN_IR_GRAPH_CONSTANT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::graph {

// The number of elements of a shape.
int64_t CountElements(const std::vector<int64_t>& shape);

// A constant of one value for each element, in row-major order: constants of
// the tensor level, whose types matter only in that a number that `dtype` does
// not hold is refused. kInvalidArgument, kResourceExhausted.
absl::StatusOr<Expr> MakeConstant(DType dtype, std::vector<int64_t> shape,
                                  const std::vector<Scalar>& values);

// kInvalidArgument for a constant whose elements the text has left out, which
// is enough to schedule what takes it, and not to run it.
absl::Status CheckHasBytes(const ConstantNode& constant);

// The element at `index`, as a constant of the tensor's type. The constant has
// to be known.
Scalar ElementOf(const ConstantNode& constant, int64_t index);

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_CONSTANT_H_
