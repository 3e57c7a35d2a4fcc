// Activations of networks, element by element:
//
//   R.nn.relu(x)        max(x, 0)
//   R.nn.gelu(x)        x * (1 + erf(x / sqrt(2))) / 2
//   R.nn.prelu(x, a)    x where x > 0, else x * a[c], c the index on `axis`
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/elementwise/elementwise.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Inputs = std::vector<te::Tensor>;

Expr Scaled(const Expr& x, double factor) {
  return Mul(x, Constant(factor, x.dtype()));
}

Expr Shifted(const Expr& x, double distance) {
  return Add(x, Constant(distance, x.dtype()));
}

Expr Of(Intrinsic op, const Expr& x) { return Call(x.dtype(), op, {x}); }

Expr IsPositive(const Expr& x) { return LT(Constant(0, x.dtype()), x); }

absl::StatusOr<Lowered> LowerRelu(const OpCall&, const Inputs& in) {
  return OneByOne(in[0],
                  [](const Expr& x) { return Max(x, Constant(0, x.dtype())); });
}

absl::StatusOr<Lowered> LowerRelu6(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) {
    const DType dtype = x.dtype();
    return Min(Max(x, Constant(0, dtype)), Constant(6, dtype));
  });
}

// A step of an activation as a tensor of its own, at index i of x.
te::Tensor Step(const te::Tensor& x, std::string name,
                FunctionRef<Expr(const std::vector<Expr>&)> element) {
  return te::Compute(
      x.shape(),
      [&](const std::vector<Expr>& i) -> te::Value { return element(i); },
      std::move(name));
}

te::Tensor StepOf(Intrinsic op, const te::Tensor& x) {
  return Step(x, "compute",
              [&](const std::vector<Expr>& i) { return Of(op, x(i)); });
}

te::Tensor StepTimes(const te::Tensor& x, double factor) {
  return Step(x, "T_multiply",
              [&](const std::vector<Expr>& i) { return Scaled(x(i), factor); });
}

te::Tensor Product(const te::Tensor& a, const te::Tensor& b) {
  return Step(a, "T_multiply",
              [&](const std::vector<Expr>& i) { return Mul(a(i), b(i)); });
}

te::Tensor ConstantTimes(double factor, const te::Tensor& x) {
  return Step(x, "T_multiply", [&](const std::vector<Expr>& i) {
    return Mul(Constant(factor, x.dtype()), x(i));
  });
}

te::Tensor ConstantPlus(double summand, const te::Tensor& x) {
  return Step(x, "T_add", [&](const std::vector<Expr>& i) {
    return Add(Constant(summand, x.dtype()), x(i));
  });
}

absl::StatusOr<Lowered> LowerSilu(const OpCall&, const Inputs& in) {
  return Lowered(Product(in[0], StepOf(Intrinsic::kSigmoid, in[0])));
}

absl::StatusOr<Lowered> LowerGelu(const OpCall&, const Inputs& in) {
  const te::Tensor& x = in[0];
  const te::Tensor erf = StepOf(Intrinsic::kErf, StepTimes(x, std::sqrt(0.5)));
  const te::Tensor half = StepTimes(erf, 0.5);
  return Lowered(Product(x, ConstantPlus(0.5, half)));
}

// 0.5 x (1 + tanh(sqrt(2 / pi) x (1 + 0.044715 x x)))
absl::StatusOr<Lowered> LowerGeluTanh(const OpCall&, const Inputs& in) {
  const te::Tensor& x = in[0];
  const te::Tensor half = ConstantTimes(0.5, x);
  const te::Tensor scaled = ConstantTimes(std::sqrt(2 / M_PI), x);
  const te::Tensor square = Product(ConstantTimes(0.044715, x), x);
  const te::Tensor inner = Product(scaled, ConstantPlus(1, square));
  const te::Tensor tanh = StepOf(Intrinsic::kTanh, inner);
  return Lowered(Product(half, ConstantPlus(1, tanh)));
}

absl::StatusOr<Lowered> LowerLeakyRelu(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const double alpha, call.Real("alpha"));
  return OneByOne(in[0], [&](const Expr& x) {
    return Select(IsPositive(x), x, Scaled(x, alpha));
  });
}

// scale (max(x, 0) + min(0, alpha (exp(x) - 1)))
absl::StatusOr<Lowered> LowerSelu(const OpCall&, const Inputs& in) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  using Indices = std::vector<Expr>;
  const te::Tensor& x = in[0];
  const Expr zero = Constant(0, x.dtype());
  const te::Tensor positive =
      Step(x, "T_maximum", [&](const Indices& i) { return Max(x(i), zero); });
  const te::Tensor exp = StepOf(Intrinsic::kExp, x);
  const te::Tensor below = Step(x, "T_subtract", [&](const Indices& i) {
    return Sub(exp(i), Constant(1, x.dtype()));
  });
  const te::Tensor scaled = ConstantTimes(kAlpha, below);
  const te::Tensor negative = Step(
      x, "T_minimum", [&](const Indices& i) { return Min(zero, scaled(i)); });
  const te::Tensor sum = Step(x, "T_add", [&](const Indices& i) {
    return Add(positive(i), negative(i));
  });
  return Lowered(ConstantTimes(kScale, sum));
}

absl::StatusOr<Lowered> LowerSoftplus(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const double beta, call.Real("beta"));
  KILN_ASSIGN_OR_RETURN(const double threshold, call.Real("threshold"));
  return OneByOne(in[0], [&](const Expr& x) {
    const Expr scaled = beta == 1 ? x : Scaled(x, beta);
    const Expr soft = Of(Intrinsic::kLog1p, Of(Intrinsic::kExp, scaled));
    return Select(LT(Constant(threshold, x.dtype()), scaled), x,
                  beta == 1 ? soft : Scaled(soft, 1 / beta));
  });
}

absl::StatusOr<StructInfo> InferSoftplus(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const double beta, call.Real("beta"));
  if (beta == 0) return call.Error("`beta` is 0");
  return InferLikeFloat(call);
}

// --- prelu.

absl::StatusOr<StructInfo> InferPrelu(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* slopes, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckRank(call, 1, *slopes, 1));
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", x->rank));
  const std::vector<Expr>* extents = KnownExtents(*x);
  const std::vector<Expr>* count = KnownExtents(*slopes);
  if (extents && count && !IsOne(count->front()) &&
      !call.AreEqual((*extents)[axis], count->front())) {
    return call.ErrorAt(1, absl::StrCat("there is not one slope for each "
                                        "index of axis ",
                                        axis));
  }
  return InferLikeFloat(call);
}

absl::StatusOr<Lowered> LowerPrelu(const OpCall& call, const Inputs& in) {
  const te::Tensor &x = in[0], &slopes = in[1];
  KILN_ASSIGN_OR_RETURN(const int axis,
                        call.Axis("axis", static_cast<int>(x.shape().size())));
  if (slopes.dtype() != x.dtype()) {
    return absl::UnimplementedError("slopes of another type");
  }
  // One slope for all is spread first.
  const bool is_shared = IsOne(slopes.shape()[0]);
  te::Tensor each = slopes;
  if (is_shared) {
    each = te::Compute(
        {x.shape()[axis]},
        [&](const std::vector<Expr>&) -> te::Value { return slopes(Int(0)); },
        "slope_broadcasted");
  }
  return Lowered(te::Compute(
      x.shape(),
      [&](const std::vector<Expr>& i) -> te::Value {
        return Select(IsPositive(x(i)), x(i), Mul(x(i), each(i[axis])));
      },
      "compute"));
}

constexpr OpRow kRows[] = {
    {"nn.gelu", InferLikeFloat, LowerGelu},
    {"nn.gelu_tanh", InferLikeFloat, LowerGeluTanh},
    {"nn.leakyrelu", InferLikeFloat, LowerLeakyRelu},
    {"nn.prelu", InferPrelu, LowerPrelu},
    {"nn.relu", InferLike, LowerRelu},
    {"nn.relu6", InferLike, LowerRelu6},
    {"nn.selu", InferLikeFloat, LowerSelu},
    {"nn.silu", InferLikeFloat, LowerSilu},
    {"nn.softplus", InferSoftplus, LowerSoftplus},
};

}  // namespace

absl::Span<const OpRow> ActivationOps() { return kRows; }

}  // namespace kiln
