// Shapes that meet element by element, as NumPy brings them together.
#ifndef KILN_IR_OPS_BROADCAST_H_
#define KILN_IR_OPS_BROADCAST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// The type that tensors and numbers among the arguments have in common: void
// where one of them is not known. InvalidArgument where two differ.
absl::StatusOr<DType> CommonType(const OpCall& call);

// A tensor of `dtype` whose shape is that of all arguments together: extents
// counted from the last one, where 1 gives way. Says as much as is certain.
// InvalidArgument where two extents never meet.
absl::StatusOr<graph::StructInfo> BroadcastInfo(const OpCall& call,
                                                DType dtype);

// The extents of tensors that meet, of which inference has accepted all.
std::vector<Expr> BroadcastExtents(const std::vector<te::Tensor>& tensors);

// The element of `tensor` that stands at `indices` of the shape `common`. Where
// both have the extent 1 the index stays, so that producers can be fused.
Expr ElementAt(const te::Tensor& tensor, const std::vector<Expr>& common,
               const std::vector<Expr>& indices);

}  // namespace kiln

#endif  // KILN_IR_OPS_BROADCAST_H_
