// What many ops ask of a tensor argument, and say of their result.
#ifndef KILN_IR_OPS_TENSORS_H_
#define KILN_IR_OPS_TENSORS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

// A tensor whose extents are known, or only its rank.
graph::StructInfo TensorLike(const graph::TensorInfo& like, int rank,
                             const std::vector<Expr>* extents);

// The argument, of floats where its type is known.
absl::StatusOr<const graph::TensorInfo*> FloatTensor(const OpCall& call,
                                                     size_t arg);

// The argument, of `rank` dimensions where its rank is known.
absl::StatusOr<const graph::TensorInfo*> RankedTensor(const OpCall& call,
                                                      size_t arg, int rank);

// Refuses a call of fewer than `count` arguments.
absl::Status CheckCount(const OpCall& call, size_t count);

// Refuses an argument whose dimension `d` certainly has another extent than
// `wanted`; `what` says what that is ("the batch of `data`"). Null `wanted` and
// unknown extents pass.
absl::Status CheckExtent(const OpCall& call, size_t arg, int d,
                         const Expr& wanted, std::string_view what);

// Dimension `d` of an argument that is a tensor, null where it is not known.
Expr ExtentOf(const OpCall& call, size_t arg, int d);

// The type in which sums of elements are kept: wider than 16 bits.
DType SumType(DType dtype);

}  // namespace kiln

#endif  // KILN_IR_OPS_TENSORS_H_
