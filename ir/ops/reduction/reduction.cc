// Reductions over axes of one tensor:
//
//   R.sum(x, axis=[1], keepdims=True)    y[i, 0] = sum over k of x[i, k]
//
// A mean is the sum, divided by the number of elements that it adds.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

struct Reduction {
  std::vector<bool> is_reduced;  // of each axis
  bool keeps = false;
};

absl::StatusOr<Reduction> ReductionOf(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axis", rank));
  Reduction reduction;
  KILN_ASSIGN_OR_RETURN(reduction.keeps, call.Bool("keepdims"));
  reduction.is_reduced.resize(rank, !axes);
  if (axes) {
    for (const int axis : *axes) reduction.is_reduced[axis] = true;
  }
  return reduction;
}

std::vector<Expr> Reduced(const std::vector<Expr>& extents,
                          const Reduction& reduction) {
  std::vector<Expr> shape;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!reduction.is_reduced[d]) shape.push_back(extents[d]);
    if (reduction.is_reduced[d] && reduction.keeps) shape.push_back(Int(1));
  }
  return shape;
}

// Of a tensor of unknown rank only a single number is known.
absl::StatusOr<StructInfo> InferUnranked(const OpCall& call,
                                         const graph::TensorInfo& x) {
  KILN_ASSIGN_OR_RETURN(const bool keeps, call.Bool("keepdims"));
  if (call.IsNone("axis") && !keeps) {
    return graph::Tensor({}, x.dtype, x.device);
  }
  return graph::TensorOfRank(graph::kUnknownRank, x.dtype, x.device);
}

absl::StatusOr<StructInfo> InferReduction(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->rank == graph::kUnknownRank) return InferUnranked(call, *x);
  KILN_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call, x->rank));
  if (const auto* extents = x->extents()) {
    return graph::Tensor(Reduced(*extents, reduction), x->dtype, x->device);
  }
  const std::vector<Expr> kept =
      Reduced(std::vector<Expr>(x->rank, Expr()), reduction);
  // Without unknown extents the shape is known all the same.
  for (const Expr& extent : kept) {
    if (extent) continue;
    return graph::TensorOfRank(static_cast<int>(kept.size()), x->dtype,
                               x->device);
  }
  return graph::Tensor(kept, x->dtype, x->device);
}

using Combine = te::Value (*)(Expr, std::vector<te::IterVar>);

te::Tensor Reduce(const te::Tensor& x, const Reduction& reduction,
                  Combine combine) {
  std::vector<te::IterVar> axes;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    if (!reduction.is_reduced[d]) continue;
    axes.push_back(te::ReduceAxis(Int(0), x.shape()[d], absl::StrCat("k", d)));
  }
  return te::Compute(
      Reduced(x.shape(), reduction),
      [&](const std::vector<Expr>& i) -> te::Value {
        std::vector<Expr> indices;
        size_t own = 0, axis = 0;
        for (size_t d = 0; d < x.shape().size(); ++d) {
          if (reduction.is_reduced[d]) {
            indices.push_back(axes[axis++]);
            own += reduction.keeps;
          } else {
            indices.push_back(i[own++]);
          }
        }
        const Expr element = x(std::move(indices));
        return axes.empty() ? te::Value(element) : combine(element, axes);
      },
      "reduce");
}

template <Combine combine>
absl::StatusOr<Lowered> LowerReduction(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call, rank));
  return Lowered(Reduce(in[0], reduction, combine));
}

absl::StatusOr<Lowered> LowerMean(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  const int rank = static_cast<int>(x.shape().size());
  KILN_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call, rank));
  if (!x.dtype().is_float()) {
    return absl::UnimplementedError("a mean of integers");
  }
  Expr count = Int(1);
  for (int d = 0; d < rank; ++d) {
    if (reduction.is_reduced[d]) count = Mul(count, x.shape()[d]);
  }
  const te::Tensor sum = Reduce(x, reduction, te::Sum);
  return Lowered(te::Compute(
      sum.shape(),
      [&](const std::vector<Expr>& i) -> te::Value {
        return Binary(ExprKind::kDiv, sum(i), Cast(x.dtype(), count));
      },
      "divide"));
}

constexpr OpRow kRows[] = {
    {"max", InferReduction, LowerReduction<te::Max>},
    {"mean", InferReduction, LowerMean},
    {"min", InferReduction, LowerReduction<te::Min>},
    {"prod", InferReduction, LowerReduction<te::Prod>},
    {"std", InferReduction},
    {"sum", InferReduction, LowerReduction<te::Sum>},
    {"variance", InferReduction},
};

}  // namespace

absl::Span<const OpRow> ReductionOps() { return kRows; }

}  // namespace kiln
