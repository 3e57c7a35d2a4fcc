// Softmax and losses.
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

// The data go through; the mask is constant.
absl::StatusOr<Partials> Dropout(const GradientCall& call) {
  const auto* fields = call.grad().As<graph::TupleNode>();
  return Partials{fields ? fields->fields[0] : graph::Item(call.grad(), 0)};
}

// (.., C, H * r, W * r) as (.., C * r * r, H, W) again.
absl::StatusOr<Partials> PixelShuffle(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  KILN_ASSIGN_OR_RETURN(const int64_t r, call.Int("upscale_factor"));
  const int64_t leading = x->rank - 2;
  std::vector<graph::Scalar> apart;
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < leading; ++d) {
    apart.push_back((*y->extents())[d]);
    axes.push_back(d);
  }
  for (int64_t d = leading; d < x->rank; ++d) {
    apart.push_back((*x->extents())[d]);
    apart.push_back(Int(r));
  }
  for (const int64_t d : {1, 3, 0, 2}) axes.push_back(leading + d);
  const Expr split =
      CallOp("reshape", {call.grad(), graph::ShapeOf(std::move(apart))});
  return Partials{CallOp("reshape", {Permuted(split, axes), ShapeOfInfo(*x)})};
}

constexpr GradientRow kRows[] = {
    {"nn.cross_entropy_with_logits", CrossEntropy},
    {"nn.dropout", Dropout},
    {"nn.log_softmax", LogSoftmax},
    {"nn.nll_loss", NllLoss},
    {"nn.pixel_shuffle", PixelShuffle},
    {"nn.softmax", Softmax},
};

}  // namespace

absl::Span<const GradientRow> NetworkGradients() { return kRows; }

}  // namespace kiln
