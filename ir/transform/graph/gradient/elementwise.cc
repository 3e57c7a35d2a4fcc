// Ops of one tensor: the adjoint times the slope at each element, which is
// written with the element x and the result y:
//
//   exp    y           tan    1 + y * y           log    1 / x
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::Expr;

Expr Number(double value, const Expr& like) { return NumberLike(value, like); }

// grad * slope(x, y).
template <auto slope>
absl::StatusOr<Partials> Chain(const GradientCall& call) {
  return Partials{Times(call.grad(), slope(call.arg(0), call.result()))};
}

// Steps have a slope of zero wherever they have one.
absl::StatusOr<Partials> Nothing(const GradientCall& call) {
  return Partials(call.size());
}

// 1 - x * x.
Expr OneLessSquare(const Expr& x) { return Minus(Number(1, x), Times(x, x)); }

Expr Abs(const Expr& x, const Expr&) { return Unary("sign", x); }
Expr Asin(const Expr& x, const Expr&) {
  return Unary("rsqrt", OneLessSquare(x));
}
Expr Acos(const Expr& x, const Expr& y) { return Minus(Asin(x, y)); }
Expr Acosh(const Expr& x, const Expr&) {
  return Unary("rsqrt", Minus(Times(x, x), Number(1, x)));
}
Expr Asinh(const Expr& x, const Expr&) {
  return Unary("rsqrt", Plus(Times(x, x), Number(1, x)));
}
Expr Atan(const Expr& x, const Expr&) {
  return Over(Number(1, x), Plus(Times(x, x), Number(1, x)));
}
Expr Atanh(const Expr& x, const Expr&) {
  return Over(Number(1, x), OneLessSquare(x));
}
Expr Cos(const Expr& x, const Expr&) { return Minus(Unary("sin", x)); }
Expr Cosh(const Expr& x, const Expr&) { return Unary("sinh", x); }
Expr Erf(const Expr& x, const Expr&) {
  constexpr double kTwoOverRootPi = 1.1283791670955126;
  return Times(Number(kTwoOverRootPi, x), Unary("exp", Minus(Times(x, x))));
}
Expr Exp(const Expr&, const Expr& y) { return y; }
Expr Rsqrt(const Expr& x, const Expr& y) {
  return Times(Number(-0.5, x), Times(y, Times(y, y)));
}
Expr Sin(const Expr& x, const Expr&) { return Unary("cos", x); }
Expr Sinh(const Expr& x, const Expr&) { return Unary("cosh", x); }
Expr Sqrt(const Expr& x, const Expr& y) { return Over(Number(0.5, x), y); }
Expr Square(const Expr& x, const Expr&) { return Times(Number(2, x), x); }
Expr Tan(const Expr& x, const Expr& y) {
  return Plus(Number(1, x), Times(y, y));
}
Expr Tanh(const Expr&, const Expr& y) { return OneLessSquare(y); }

absl::StatusOr<Partials> Log(const GradientCall& call) {
  return Partials{Over(call.grad(), call.arg(0))};
}

absl::StatusOr<Partials> Negative(const GradientCall& call) {
  return Partials{Minus(call.grad())};
}

absl::StatusOr<Partials> Sigmoid(const GradientCall& call) {
  const Expr& y = call.result();
  return Partials{Times(Times(call.grad(), y), Minus(Number(1, y), y))};
}

absl::StatusOr<Partials> Astype(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (!x->dtype.is_float()) return Partials(1);
  return Partials{
      graph::CallOp("astype", {call.grad()}, {{"dtype", x->dtype.ToString()}})};
}

// Inside of the bounds the slope is 1, outside 0.
absl::StatusOr<Partials> Clip(const GradientCall& call) {
  const Expr& x = call.arg(0);
  Partials partials(3);
  const Expr is_inside = Binary("equal", x, call.result());
  partials[0] = graph::CallOp("where", {is_inside, call.grad(), Number(0, x)});
  return partials;
}

constexpr GradientRow kRows[] = {
    {"abs", Chain<Abs>},
    {"acos", Chain<Acos>},
    {"acosh", Chain<Acosh>},
    {"asin", Chain<Asin>},
    {"asinh", Chain<Asinh>},
    {"astype", Astype},
    {"atan", Chain<Atan>},
    {"atanh", Chain<Atanh>},
    {"ceil", Nothing},
    {"clip", Clip},
    {"cos", Chain<Cos>},
    {"cosh", Chain<Cosh>},
    {"erf", Chain<Erf>},
    {"exp", Chain<Exp>},
    {"floor", Nothing},
    {"grad.no_grad", Nothing},
    {"log", Log},
    {"negative", Negative},
    {"ones_like", Nothing},
    {"round", Nothing},
    {"rsqrt", Chain<Rsqrt>},
    {"sigmoid", Sigmoid},
    {"sign", Nothing},
    {"sin", Chain<Sin>},
    {"sinh", Chain<Sinh>},
    {"sqrt", Chain<Sqrt>},
    {"square", Chain<Square>},
    {"tan", Chain<Tan>},
    {"tanh", Chain<Tanh>},
    {"trunc", Nothing},
    {"zeros_like", Nothing},
};

}  // namespace

absl::Span<const GradientRow> ElementwiseGradients() { return kRows; }

}  // namespace kiln
