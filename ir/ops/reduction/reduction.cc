// Reductions over axes of one tensor:
//
//   R.sum(x, axis=[1], keepdims=True)    y[i, 0] = sum over k of x[i, k]
//
// A mean is the sum, divided by the number of elements that it adds; a variance
// the mean of squared distances from the mean. The sum of bools is whether one
// is true, their product whether all are.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/fold.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

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
      "x_red");
}

template <Combine combine>
absl::StatusOr<Lowered> LowerReduction(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call, rank));
  return Lowered(Reduce(in[0], reduction, combine));
}

// The number of elements that each sum adds, in the type of the sums.
Expr CountOf(const te::Tensor& x, const Reduction& reduction) {
  Expr count = Int(1);
  for (size_t d = 0; d < x.shape().size(); ++d) {
    if (reduction.is_reduced[d]) count = Mul(count, x.shape()[d]);
  }
  return FoldNumbers(Cast(x.dtype(), count));
}

te::Tensor Mean(const te::Tensor& x, const Reduction& reduction) {
  const te::Tensor sum = Reduce(x, reduction, te::Sum);
  const Expr count = CountOf(x, reduction);
  return te::Compute(
      sum.shape(),
      [&](const Extents& i) -> te::Value {
        return Binary(ExprKind::kDiv, sum(i), count);
      },
      "T_divide");
}

// The mean of squared distances from the mean.
te::Tensor Variance(const te::Tensor& x, const Reduction& reduction) {
  Reduction kept = reduction;
  kept.keeps = true;
  const te::Tensor mean = Mean(x, kept);
  const te::Tensor distance = te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value {
        return Sub(x(i), ElementAt(mean, x.shape(), i));
      },
      "T_subtract");
  const te::Tensor square = te::Compute(
      x.shape(),
      [&](const Extents& i) -> te::Value {
        return Mul(distance(i), distance(i));
      },
      "T_multiply");
  return Mean(square, reduction);
}

te::Tensor Deviation(const te::Tensor& x, const Reduction& reduction) {
  const te::Tensor variance = Variance(x, reduction);
  return te::Compute(
      variance.shape(),
      [&](const Extents& i) -> te::Value {
        return Call(x.dtype(), Intrinsic::kSqrt, {variance(i)});
      },
      "compute");
}

template <te::Tensor (*moment)(const te::Tensor&, const Reduction&)>
absl::StatusOr<Lowered> LowerMoment(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const Reduction reduction, ReductionOf(call, rank));
  if (!in[0].dtype().is_float()) {
    return absl::UnimplementedError("a mean of integers");
  }
  return Lowered(moment(in[0], reduction));
}

constexpr OpRow kRows[] = {
    {"max", InferReduction, LowerReduction<te::Max>},
    {"mean", InferReduction, LowerMoment<Mean>},
    {"min", InferReduction, LowerReduction<te::Min>},
    {"prod", InferReduction, LowerReduction<te::Prod>},
    {"std", InferReduction, LowerMoment<Deviation>},
    {"sum", InferReduction, LowerReduction<te::Sum>},
    {"variance", InferReduction, LowerMoment<Variance>},
};

}  // namespace

absl::Span<const OpRow> ReductionOps() { return kRows; }

}  // namespace kiln
