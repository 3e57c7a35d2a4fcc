// Ops of several tensors that stretch to one shape: what each contributes is
// summed to its own shape again.
//
//   y = R.add(a, b), a: (3, 5), b: (5,)     of b: R.collapse_sum_to(grad, (5,))
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

// Sums what has the shape of the result to the shapes of the arguments. A
// number among them has no partial.
absl::StatusOr<Partials> Fit(const GradientCall& call, Partials full) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* result, call.Result());
  for (size_t i = 0; i < full.size(); ++i) {
    if (!full[i]) continue;
    if (call.arg(i).As<graph::PrimNode>()) {
      full[i] = {};
      continue;
    }
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* arg, call.Tensor(i));
    full[i] = SummedTo(full[i], *result, *arg);
  }
  return full;
}

absl::StatusOr<Partials> Add(const GradientCall& call) {
  return Fit(call, {call.grad(), call.grad()});
}

absl::StatusOr<Partials> Subtract(const GradientCall& call) {
  return Fit(call, {call.grad(), Minus(call.grad())});
}

absl::StatusOr<Partials> Multiply(const GradientCall& call) {
  return Fit(
      call, {Times(call.grad(), call.arg(1)), Times(call.grad(), call.arg(0))});
}

absl::StatusOr<Partials> Divide(const GradientCall& call) {
  const Expr& y = call.arg(1);
  return Fit(call, {Over(call.grad(), y),
                    Over(Times(Minus(call.grad()), call.result()), y)});
}

absl::StatusOr<Partials> Power(const GradientCall& call) {
  const Expr &x = call.arg(0), &y = call.arg(1);
  const Expr lower = Binary("power", x, Minus(y, NumberLike(1, call.result())));
  return Fit(call, {Times(Times(call.grad(), y), lower),
                    Times(Times(call.grad(), call.result()), Unary("log", x))});
}

// `grad` where the comparison of both arguments does not hold.
Expr Unless(const GradientCall& call, const char* comparison) {
  const Expr& like = call.result();
  const Expr holds = Binary(comparison, call.arg(0), call.arg(1));
  const Expr mask =
      CallOp("where", {holds, NumberLike(0, like), NumberLike(1, like)});
  return Times(mask, call.grad());
}

absl::StatusOr<Partials> Maximum(const GradientCall& call) {
  return Fit(call, {Unless(call, "less"), Unless(call, "greater_equal")});
}

absl::StatusOr<Partials> Minimum(const GradientCall& call) {
  return Fit(call, {Unless(call, "greater_equal"), Unless(call, "less")});
}

// The angle of (x, y): x / (x^2 + y^2) by y, -y / (x^2 + y^2) by x.
absl::StatusOr<Partials> Atan2(const GradientCall& call) {
  const Expr &y = call.arg(0), &x = call.arg(1);
  const Expr scaled =
      call.Emit(Over(call.grad(), Plus(Times(x, x), Times(y, y))));
  return Fit(call, {Times(scaled, x), Minus(Times(scaled, y))});
}

absl::StatusOr<Partials> LogAddExp(const GradientCall& call) {
  const auto share = [&](size_t i) {
    return Times(call.grad(), Unary("exp", Minus(call.arg(i), call.result())));
  };
  return Fit(call, {share(0), share(1)});
}

// x - y * floor(x / y): steps apart, 1 by x and -floor(x / y) by y.
absl::StatusOr<Partials> FloorMod(const GradientCall& call) {
  const Expr steps = Unary("floor", Over(call.arg(0), call.arg(1)));
  return Fit(call, {call.grad(), Minus(Times(call.grad(), steps))});
}

absl::StatusOr<Partials> Fma(const GradientCall& call) {
  return Fit(call, {Times(call.grad(), call.arg(1)),
                    Times(call.grad(), call.arg(0)), call.grad()});
}

absl::StatusOr<Partials> Where(const GradientCall& call) {
  const Expr zero = NumberLike(0, call.result());
  const Expr& condition = call.arg(0);
  return Fit(call, {Expr(), CallOp("where", {condition, call.grad(), zero}),
                    CallOp("where", {condition, zero, call.grad()})});
}

constexpr GradientRow kRows[] = {
    {"add", Add},         {"atan2", Atan2},        {"divide", Divide},
    {"ewise_fma", Fma},   {"floor_mod", FloorMod}, {"log_add_exp", LogAddExp},
    {"maximum", Maximum}, {"minimum", Minimum},    {"multiply", Multiply},
    {"power", Power},     {"subtract", Subtract},  {"where", Where},
};

}  // namespace

absl::Span<const GradientRow> PairGradients() { return kRows; }

}  // namespace kiln
