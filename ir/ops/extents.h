// Extents, as the inference of many ops reads and makes them.
#ifndef KILN_IR_OPS_EXTENTS_H_
#define KILN_IR_OPS_EXTENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op_call.h"

namespace kiln {

// The extents of a tensor, also where its shape is a variable of which they are
// known; nullptr else.
const std::vector<Expr>* KnownExtents(const graph::TensorInfo& tensor);

// A tensor like `tensor`, of another type.
graph::StructInfo WithType(const graph::TensorInfo& tensor, DType dtype);

// A tensor on the device of `tensor`, of its type unless another one is given.
graph::StructInfo Like(const graph::TensorInfo& tensor,
                       std::vector<Expr> extents);
graph::StructInfo Like(const graph::TensorInfo& tensor, int rank);

// A tensor whose shape is argument `arg`: a variable where that is one.
absl::StatusOr<graph::StructInfo> TensorOfShapeArg(const OpCall& call,
                                                   size_t arg, DType dtype,
                                                   std::string device = "");

// The product; 1 of none.
Expr Product(const std::vector<Expr>& extents);

// The place of an element in row-major order, and back.
Expr FlatIndex(const std::vector<Expr>& shape, const std::vector<Expr>& index);
std::vector<Expr> IndexOfFlat(const std::vector<Expr>& shape, const Expr& flat);

// `a` where the condition holds, else `b`; the other one is not evaluated.
Expr IfThenElse(const Expr& condition, const Expr& a, const Expr& b);

// A place that counts from the end of `extent` where it is negative, as an
// index from the front.
Expr FromFront(const Expr& place, const Expr& extent);

// a + b where b is a constant, in the shortest spelling.
Expr Plus(const Expr& a, int64_t b);

// InvalidArgument where argument `arg` is of a known type that is no integer.
absl::Status CheckIntegers(const OpCall& call, size_t arg,
                           const graph::TensorInfo& tensor);

// InvalidArgument where the rank of argument `arg` is known and not `rank`.
absl::Status CheckRank(const OpCall& call, size_t arg,
                       const graph::TensorInfo& tensor, int rank);
// The same also where it is not known.
absl::Status CheckKnownRank(const OpCall& call, size_t arg,
                            const graph::TensorInfo& tensor, int rank);

}  // namespace kiln

#endif  // KILN_IR_OPS_EXTENTS_H_
