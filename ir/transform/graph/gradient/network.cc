// Softmax, norms and losses. Of a normalized element n = (x - mean) /
// deviation, with the adjoint g of n and means over the normalized axes:
//
//   of x: (g - mean(g) - n * mean(g * n)) / deviation
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

Expr SumAlong(Expr e, Attr axes) {
  return CallOp("sum", {std::move(e)},
                {{"axis", std::move(axes)}, {"keepdims", Bool(true)}});
}

Expr MeanAlong(Expr e, Attr axes) {
  return CallOp("mean", {std::move(e)},
                {{"axis", std::move(axes)}, {"keepdims", Bool(true)}});
}

absl::StatusOr<Attr> AxisOf(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Int("axis"));
  return AxesAttr({axis});
}

absl::StatusOr<Partials> Softmax(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Attr axis, AxisOf(call));
  const Expr& y = call.result();
  const Expr sum = SumAlong(Times(call.grad(), y), axis);
  return Partials{Times(Minus(call.grad(), sum), y)};
}

absl::StatusOr<Partials> LogSoftmax(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Attr axis, AxisOf(call));
  const Expr share =
      Times(SumAlong(call.grad(), axis), Unary("exp", call.result()));
  return Partials{Minus(call.grad(), share)};
}

// -sum(predictions * labels) / rows.
absl::StatusOr<Partials> CrossEntropy(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  Expr grad = call.grad();
  if (x->rank > 1) {
    const int64_t* rows = AsInt((*x->extents())[0]);
    if (!rows) return call.Refuse("its number of rows has to be a constant");
    grad = Over(grad, NumberLike(static_cast<double>(*rows), call.arg(0)));
  }
  const Expr minus = Minus(grad);
  return Partials{Times(minus, call.arg(1)), Times(minus, call.arg(0))};
}

absl::StatusOr<Partials> NllLoss(const GradientCall& call) {
  if (call.IsWanted(2)) return call.Refuse("its weights have no gradient");
  Partials partials(call.size());
  std::vector<Expr> args = call.node().args;
  args.insert(args.begin(), call.grad());
  partials[0] =
      CallOp("grad.nll_loss_backward", std::move(args), call.node().attrs);
  return partials;
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

constexpr GradientRow kRows[] = {
    {"nn.cross_entropy_with_logits", CrossEntropy},
    {"nn.layer_norm", LayerNorm},
    {"nn.log_softmax", LogSoftmax},
    {"nn.nll_loss", NllLoss},
    {"nn.rms_norm", RmsNorm},
    {"nn.softmax", Softmax},
};

}  // namespace

absl::Span<const GradientRow> NetworkGradients() { return kRows; }

}  // namespace kiln
