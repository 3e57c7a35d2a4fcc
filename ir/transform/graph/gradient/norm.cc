// Norms. Of a normalized element n = (x - mean) / deviation, with the adjoint g
// of n and means over the normalized axes:
//
//   of x: (g - mean(g) - n * mean(g * n)) / deviation
//
// What is scaled by channel gets extents of 1 at the other axes; of groups,
// channels stand as (group, channel in it), as two axes.
#include <algorithm>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

Expr MeanAlong(Expr e, Attr axes) {
  return CallOp("mean", {std::move(e)},
                {{"axis", std::move(axes)}, {"keepdims", Bool(true)}});
}

// What a normalization does to an element, before it is scaled.
struct Normal {
  Expr normal;   // (x - mean) / deviation, or x / root mean square
  Expr inverse;  // 1 / deviation
};

// grad' = grad * gamma; of x: (grad' - mean(grad') - normal * mean(grad' *
// normal)) / deviation. Without a mean that is taken off, its term falls away.
Expr OfNormal(const Expr& scaled, const Normal& n, const Attr& axes,
              bool takes_mean) {
  const Expr along = Times(n.normal, MeanAlong(Times(scaled, n.normal), axes));
  const Expr own = takes_mean ? Minus(scaled, MeanAlong(scaled, axes)) : scaled;
  return Times(Minus(own, along), n.inverse);
}

// The adjoint, summed over all axes but those.
absl::StatusOr<Expr> OfScale(const GradientCall& call, const Expr& e,
                             const std::vector<int64_t>& axes, size_t arg) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* own, call.Tensor(arg));
  // Parameters have the extents of the axes, which are the last ones.
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != x->rank - static_cast<int64_t>(axes.size() - i)) {
      return call.Refuse("it has a gradient over the last axes only");
    }
  }
  return SummedTo(e, *x, *own);
}

absl::StatusOr<Partials> LayerNorm(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* info, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", info->rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  const Expr& x = call.arg(0);
  const Attr along = AxesAttr(axes);
  const Expr centered = call.Emit(Minus(x, MeanAlong(x, along)));
  const Expr variance = MeanAlong(Times(centered, centered), along);
  Normal n;
  n.inverse = call.Emit(Unary("rsqrt", Plus(variance, NumberLike(epsilon, x))));
  n.normal = call.Emit(Times(centered, n.inverse));
  const bool scales = call.IsTrue("scale");
  const Expr scaled =
      call.Emit(scales ? Times(call.grad(), call.arg(1)) : call.grad());
  Partials partials(3);
  partials[0] = OfNormal(scaled, n, along, true);
  if (scales) {
    KILN_ASSIGN_OR_RETURN(partials[1],
                          OfScale(call, Times(call.grad(), n.normal), axes, 1));
  }
  if (call.IsTrue("center")) {
    KILN_ASSIGN_OR_RETURN(partials[2], OfScale(call, call.grad(), axes, 2));
  }
  return partials;
}

absl::StatusOr<Partials> RmsNorm(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* info, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", info->rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  const Expr& x = call.arg(0);
  const Attr along = AxesAttr(axes);
  const Expr square = MeanAlong(Times(x, x), along);
  Normal n;
  n.inverse = call.Emit(Unary("rsqrt", Plus(square, NumberLike(epsilon, x))));
  n.normal = call.Emit(Times(x, n.inverse));
  const Expr scaled = call.Emit(Times(call.grad(), call.arg(1)));
  Partials partials(2);
  partials[0] = OfNormal(scaled, n, along, false);
  KILN_ASSIGN_OR_RETURN(partials[1],
                        OfScale(call, Times(call.grad(), n.normal), axes, 1));
  return partials;
}

// --- By channel.

// Numbers by channel, and tensors that they are for.
class Channels {
 public:
  Channels(int64_t channel, int rank) {
    std::vector<int64_t> others;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != channel) others.push_back(d);
    }
    others_ = AxesAttr(others);
  }

  const Attr& others() const { return others_; }
  Expr Stretched(const Expr& numbers) const {
    return CallOp("expand_dims", {numbers}, {{"axis", others_}});
  }
  Expr Summed(Expr e) const {
    return CallOp("sum", {std::move(e)},
                  {{"axis", others_}, {"keepdims", Bool(false)}});
  }

 private:
  Attr others_;
};

// 1 / sqrt(variance + epsilon).
Expr Inverse(const GradientCall& call, const Expr& variance, double epsilon) {
  return call.Emit(
      Unary("rsqrt", Plus(variance, NumberLike(epsilon, call.arg(0)))));
}

// The partials of gamma and beta, and the adjoint times gamma.
Expr Scaled(const GradientCall& call, const Channels& channels,
            const Expr& grad, const Expr& normal, Partials& partials) {
  if (call.IsTrue("center")) partials[2] = channels.Summed(grad);
  if (!call.IsTrue("scale")) return grad;
  partials[1] = channels.Summed(Times(grad, normal));
  return call.Emit(Times(grad, channels.Stretched(call.arg(1))));
}

// (x - mean) / deviation, of moments over `axes` of x.
Normal NormalOf(const GradientCall& call, const Expr& x, const Attr& axes,
                double epsilon) {
  const Expr centered = call.Emit(Minus(x, MeanAlong(x, axes)));
  Normal n;
  n.inverse =
      Inverse(call, MeanAlong(Times(centered, centered), axes), epsilon);
  n.normal = call.Emit(Times(centered, n.inverse));
  return n;
}

absl::StatusOr<Partials> InstanceNorm(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", x->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t channel,
                        call.Axis("channel_axis", x->rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  const Channels channels(channel, x->rank);
  const Attr along = AxesAttr(axes);
  const Normal n = NormalOf(call, call.arg(0), along, epsilon);
  Partials partials(3);
  const Expr scaled = Scaled(call, channels, call.grad(), n.normal, partials);
  partials[0] = OfNormal(scaled, n, along, true);
  return partials;
}

absl::StatusOr<Partials> GroupNorm(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", x->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t channel,
                        call.Axis("channel_axis", x->rank));
  KILN_ASSIGN_OR_RETURN(const int64_t groups, call.Int("num_groups"));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  if (std::find(axes.begin(), axes.end(), channel) != axes.end()) {
    return call.Refuse("`axes` has to be without the axis of channels");
  }
  std::vector<graph::Scalar> apart = *x->extents();
  apart[channel] = FloorDiv(apart[channel], Int(groups));
  apart.insert(apart.begin() + channel, Int(groups));
  std::vector<int64_t> inner = {channel + 1};
  for (const int64_t axis : axes) {
    inner.push_back(axis < channel ? axis : axis + 1);
  }
  const Attr along = AxesAttr(inner);
  const auto split = [&](const Expr& e) {
    return call.Emit(CallOp("reshape", {e, graph::ShapeOf(apart)}));
  };
  const auto joined = [&](const Expr& e) {
    return CallOp("reshape", {e, ShapeOfInfo(*x)});
  };
  const Normal n = NormalOf(call, split(call.arg(0)), along, epsilon);
  Partials partials(3);
  const Expr scaled = Scaled(call, Channels(channel, x->rank), call.grad(),
                             joined(n.normal), partials);
  partials[0] = joined(OfNormal(split(scaled), n, along, true));
  return partials;
}

// --- Batches: three results, of which the moments are moved.

Expr FieldOf(const Expr& grad, int index) {
  const auto* tuple = grad.As<graph::TupleNode>();
  return tuple ? tuple->fields[index] : graph::Item(grad, index);
}

// By moments that are arguments.
Partials OfGivenMoments(const GradientCall& call, const Channels& channels,
                        double epsilon) {
  const Expr centered =
      call.Emit(Minus(call.arg(0), channels.Stretched(call.arg(3))));
  const Expr inverse = Inverse(call, call.arg(4), epsilon);
  const Expr wide = call.Emit(channels.Stretched(inverse));
  Partials partials(5);
  const Expr scaled = Scaled(call, channels, call.Emit(FieldOf(call.grad(), 0)),
                             call.Emit(Times(centered, wide)), partials);
  partials[0] = call.Emit(Times(scaled, wide));
  partials[3] = Minus(FieldOf(call.grad(), 1), channels.Summed(partials[0]));
  const Expr half = NumberLike(-0.5, call.arg(0));
  const Expr cube = Times(Times(inverse, inverse), inverse);
  const Expr of_variance = channels.Summed(Times(scaled, centered));
  partials[4] =
      Plus(FieldOf(call.grad(), 2), Times(Times(of_variance, cube), half));
  return partials;
}

// By moments of the batch, which move the arguments.
absl::StatusOr<Partials> OfOwnMoments(const GradientCall& call,
                                      const Channels& channels,
                                      double epsilon) {
  KILN_ASSIGN_OR_RETURN(const double momentum, call.Real("momentum"));
  const Expr& x = call.arg(0);
  const Normal n = NormalOf(call, x, channels.others(), epsilon);
  Partials partials(5);
  const Expr scaled = Scaled(call, channels, call.Emit(FieldOf(call.grad(), 0)),
                             n.normal, partials);
  // A mean over what has 1 everywhere is 1 / count of each.
  const Expr ones = CallOp("ones_like", {x}, {{"dtype", Attr()}});
  const Expr count = call.Emit(channels.Summed(ones));
  const auto share = [&](int field, double factor) {
    const Expr moved =
        Times(FieldOf(call.grad(), field), NumberLike(factor, x));
    return channels.Stretched(Over(moved, count));
  };
  const Expr centered = Over(n.normal, n.inverse);
  const Expr of_moments =
      Plus(share(1, momentum), Times(share(2, 2 * momentum), centered));
  partials[0] = Plus(OfNormal(scaled, n, channels.others(), true), of_moments);
  const Expr rest = NumberLike(1 - momentum, x);
  partials[3] = Times(FieldOf(call.grad(), 1), rest);
  partials[4] = Times(FieldOf(call.grad(), 2), rest);
  return partials;
}

absl::StatusOr<Partials> BatchNorm(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Axis("axis", x->rank));
  KILN_ASSIGN_OR_RETURN(const double epsilon, call.Real("epsilon"));
  const Channels channels(axis, x->rank);
  return call.IsTrue("training") ? OfOwnMoments(call, channels, epsilon)
                                 : OfGivenMoments(call, channels, epsilon);
}

constexpr GradientRow kRows[] = {
    {"nn.batch_norm", BatchNorm},       {"nn.group_norm", GroupNorm},
    {"nn.instance_norm", InstanceNorm}, {"nn.layer_norm", LayerNorm},
    {"nn.rms_norm", RmsNorm},
};

}  // namespace

absl::Span<const GradientRow> NormGradients() { return kRows; }

}  // namespace kiln
