// Activations of networks. Where a function has a corner, one of the slopes
// beside it is taken.
#include <cmath>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

Expr Where(Expr condition, Expr yes, Expr no) {
  return CallOp("where", {std::move(condition), std::move(yes), std::move(no)});
}

absl::StatusOr<Partials> Relu(const GradientCall& call) {
  const Expr& x = call.arg(0);
  const Expr zero = NumberLike(0, x);
  return Partials{Where(Binary("less", x, zero), zero, call.grad())};
}

absl::StatusOr<Partials> Relu6(const GradientCall& call) {
  const Expr& x = call.arg(0);
  const Expr is_inside = Binary("equal", x, call.result());
  return Partials{Where(is_inside, call.grad(), NumberLike(0, x))};
}

absl::StatusOr<Partials> LeakyRelu(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const double alpha, call.Real("alpha"));
  const Expr& x = call.arg(0);
  const Expr slope = Where(Binary("less", x, NumberLike(0, x)),
                           NumberLike(alpha, x), NumberLike(1, x));
  return Partials{Times(call.grad(), slope)};
}

// x * s with s = sigmoid(x): s + x * s * (1 - s).
absl::StatusOr<Partials> Silu(const GradientCall& call) {
  const Expr& x = call.arg(0);
  const Expr s = call.Emit(Unary("sigmoid", x));
  const Expr rest = Times(call.result(), Minus(NumberLike(1, x), s));
  return Partials{Times(call.grad(), Plus(s, rest))};
}

// x * p with p = (1 + erf(x / sqrt(2))) / 2: p + x * exp(-x * x / 2) / sqrt(2
// pi).
absl::StatusOr<Partials> Gelu(const GradientCall& call) {
  const Expr& x = call.arg(0);
  const Expr share =
      Times(NumberLike(0.5, x),
            Plus(NumberLike(1, x),
                 Unary("erf", Times(x, NumberLike(std::sqrt(0.5), x)))));
  const Expr bell =
      Times(NumberLike(0.3989422804014327, x),
            Unary("exp", Times(Times(x, x), NumberLike(-0.5, x))));
  return Partials{Times(call.grad(), Plus(share, Times(x, bell)))};
}

// x * (1 + t) / 2 with t = tanh(c * (x + a * x^3)).
absl::StatusOr<Partials> GeluTanh(const GradientCall& call) {
  constexpr double kC = 0.7978845608028654, kA = 0.044715;
  const Expr& x = call.arg(0);
  const Expr square = call.Emit(Times(x, x));
  const Expr one = NumberLike(1, x);
  const Expr inside = Times(
      NumberLike(kC, x), Times(x, Plus(one, Times(NumberLike(kA, x), square))));
  const Expr t = call.Emit(Unary("tanh", inside));
  const Expr inner =
      Times(NumberLike(kC, x), Plus(one, Times(NumberLike(3 * kA, x), square)));
  const Expr bend = Times(Times(x, Minus(one, Times(t, t))), inner);
  const Expr slope = Times(NumberLike(0.5, x), Plus(Plus(one, t), bend));
  return Partials{Times(call.grad(), slope)};
}

// scale * x above zero, scale * alpha * (exp(x) - 1) below.
absl::StatusOr<Partials> Selu(const GradientCall& call) {
  constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
  const Expr& x = call.arg(0);
  const Expr below = Plus(call.result(), NumberLike(kScale * kAlpha, x));
  const Expr slope =
      Where(Binary("less", x, NumberLike(0, x)), below, NumberLike(kScale, x));
  return Partials{Times(call.grad(), slope)};
}

// log(1 + exp(beta * x)) / beta, or x where beta * x is above the threshold.
absl::StatusOr<Partials> Softplus(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const double beta, call.Real("beta"));
  KILN_ASSIGN_OR_RETURN(const double threshold, call.Real("threshold"));
  const Expr& x = call.arg(0);
  const Expr scaled = call.Emit(Times(x, NumberLike(beta, x)));
  const Expr slope = Where(Binary("greater", scaled, NumberLike(threshold, x)),
                           NumberLike(1, x), Unary("sigmoid", scaled));
  return Partials{Times(call.grad(), slope)};
}

// alpha has an element for each place along the axis.
absl::StatusOr<Partials> Prelu(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x_info, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* alpha, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Axis("axis", x_info->rank));
  const Expr& x = call.arg(0);
  const Expr is_below = Binary("less", x, NumberLike(0, x));
  std::vector<graph::Scalar> extents(x_info->rank, Int(1));
  std::vector<int64_t> others;
  for (int64_t i = 0; i < x_info->rank; ++i) {
    if (i != axis) others.push_back(i);
  }
  if (axis < 0 || axis >= x_info->rank) return call.Refuse("its axis is none");
  extents[axis] = (*alpha->extents())[0];
  const Expr row = CallOp("reshape", {call.arg(1), graph::ShapeOf(extents)});
  Partials partials;
  partials.push_back(
      Times(call.grad(), Where(is_below, row, NumberLike(1, x))));
  const Expr bent = Where(is_below, Times(call.grad(), x), NumberLike(0, x));
  partials.push_back(CallOp(
      "sum", {bent}, {{"axis", AxesAttr(others)}, {"keepdims", Bool(false)}}));
  return partials;
}

constexpr GradientRow kRows[] = {
    {"nn.gelu", Gelu},           {"nn.gelu_tanh", GeluTanh},
    {"nn.leakyrelu", LeakyRelu}, {"nn.prelu", Prelu},
    {"nn.relu", Relu},           {"nn.relu6", Relu6},
    {"nn.selu", Selu},           {"nn.silu", Silu},
    {"nn.softplus", Softplus},
};

}  // namespace

absl::Span<const GradientRow> ActivationGradients() { return kRows; }

}  // namespace kiln
