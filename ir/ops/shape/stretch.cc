// Extents of 1 stretched, and the sums that undo it:
//
//   R.broadcast_to(x, (4, 2, 5))     y[i, j, k] = x[j, 0], x of (2, 1)
//   R.collapse_sum_to(y, (2, 1))     x[j, 0] = sum over i, k of y[i, j, k]
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

// --- broadcast_to.

absl::Status CheckStretch(const OpCall& call, const Extents& from,
                          const Extents& to) {
  const size_t added = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    const Expr& a = from[d];
    const Expr& b = to[added + d];
    if (AsInt(a) && AsInt(b) && !IsOne(a) && *AsInt(a) != *AsInt(b)) {
      return call.ErrorAt(1, absl::StrCat("the extent ", *AsInt(a),
                                          " does not stretch to ", *AsInt(b)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferBroadcastTo(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* to, call.Shape(1));
  if (to->rank != graph::kUnknownRank && x->rank > to->rank) {
    return call.ErrorAt(
        1, absl::StrCat("`shape` has ", to->rank,
                        " dimensions, fewer than the ", x->rank, " of x"));
  }
  const Extents* from = KnownExtents(*x);
  if (from && to->values) {
    KILN_RETURN_IF_ERROR(CheckStretch(call, *from, *to->values));
  }
  return TensorOfShapeArg(call, 1, x->dtype, x->device);
}

absl::StatusOr<Lowered> LowerBroadcastTo(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* to, call.Shape(1));
  if (!to->values) return absl::UnimplementedError("extents are not known");
  const Extents& from = in[0].shape();
  const size_t added = to->values->size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (!IsOne(from[d]) &&
        !call.analyzer().CanProveEqual(from[d], (*to->values)[added + d])) {
      return absl::UnimplementedError("an extent may or may not be 1");
    }
  }
  return Lowered(te::Compute(
      *to->values,
      [&](const Extents& i) -> te::Value {
        return ElementAt(in[0], *to->values, i);
      },
      "broadcast_to"));
}

// --- collapse_sum_to, collapse_sum_like.

// Extents are known to be summed over or to stay; a missing one is 1.
absl::Status CheckCollapse(const OpCall& call, const Extents& from,
                           const Extents& to) {
  for (size_t back = 1; back <= to.size(); ++back) {
    const Expr& wanted = to[to.size() - back];
    if (IsOne(wanted)) continue;
    if (back > from.size()) {
      if (!AsInt(wanted)) continue;
      return call.ErrorAt(1, "more dimensions are asked for than there are");
    }
    if (call.analyzer().CanProveEqual(from[from.size() - back], wanted)) {
      continue;
    }
    return call.ErrorAt(1, absl::StrCat("extent ", back,
                                        " from the end is neither 1 nor known "
                                        "to be that of data"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StructInfo> InferCollapseTo(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* to, call.Shape(1));
  const Extents* from = KnownExtents(*x);
  if (from && to->values) {
    KILN_RETURN_IF_ERROR(CheckCollapse(call, *from, *to->values));
  }
  return TensorOfShapeArg(call, 1, x->dtype, x->device);
}

absl::StatusOr<StructInfo> InferCollapseLike(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* like, call.Tensor(1));
  const Extents* from = KnownExtents(*x);
  const Extents* to = KnownExtents(*like);
  if (from && to) KILN_RETURN_IF_ERROR(CheckCollapse(call, *from, *to));
  return StructInfo(
      new graph::TensorInfo(like->shape, like->rank, x->dtype, x->device));
}

te::Tensor Collapsed(const OpCall& call, const te::Tensor& x,
                     const Extents& to) {
  const Extents& from = x.shape();
  const size_t gone = from.size() - to.size();
  std::vector<te::IterVar> axes;
  std::vector<int> axis_of(from.size(), -1);
  for (size_t d = 0; d < from.size(); ++d) {
    const bool stays =
        d >= gone && call.analyzer().CanProveEqual(from[d], to[d - gone]);
    if (stays) continue;
    axis_of[d] = static_cast<int>(axes.size());
    axes.push_back(te::ReduceAxis(Int(0), from[d], absl::StrCat("k", d)));
  }
  return te::Compute(
      to,
      [&](const Extents& i) -> te::Value {
        Extents index;
        for (size_t d = 0; d < from.size(); ++d) {
          index.push_back(axis_of[d] < 0 ? i[d - gone]
                                         : Expr(axes[axis_of[d]]));
        }
        const Expr element = x(std::move(index));
        return axes.empty() ? te::Value(element) : te::Sum(element, axes);
      },
      "collapse_sum");
}

template <InferFn infer>
absl::StatusOr<Lowered> LowerCollapse(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, infer(call));
  const Extents* to = KnownExtents(*info.As<graph::TensorInfo>());
  if (!to || to->size() > in[0].shape().size()) {
    return absl::UnimplementedError("extents are not known");
  }
  return Lowered(Collapsed(call, in[0], *to));
}

constexpr OpRow kRows[] = {
    {"broadcast_to", InferBroadcastTo, LowerBroadcastTo},
    {"collapse_sum_like", InferCollapseLike, LowerCollapse<InferCollapseLike>},
    {"collapse_sum_to", InferCollapseTo, LowerCollapse<InferCollapseTo>},
};

}  // namespace

absl::Span<const OpRow> StretchOps() { return kRows; }

}  // namespace kiln
