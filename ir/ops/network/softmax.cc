// R.nn.softmax and R.nn.log_softmax along an axis. The largest element is taken
// off first, so that no exponential overflows:
//
//   max[i] = max over k of x[i, k]
//   exp[i, j] = exp(x[i, j] - max[i])
//   softmax[i, j] = exp[i, j] / sum over k of exp[i, k]
//   log_softmax[i, j] = x[i, j] - max[i] - log(sum over k of exp[i, k])
//
// Elements of 16 bits are computed as float32.
#include "kiln/ir/ops/network/softmax.h"

#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferSoftmax(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, FloatTensor(call, 0));
  KILN_RETURN_IF_ERROR(call.Axis("axis", x->rank).status());
  return call.info(0);
}

// A tensor along an axis, and what is reduced over it.
struct Along {
  te::Tensor x;
  int axis;
  DType dtype;  // of sums

  Expr Element(const Extents& i) const { return Cast(dtype, x(i)); }
  Extents Without(Extents i) const {
    i.erase(i.begin() + axis);
    return i;
  }
  Extents With(Extents i, const Expr& index) const {
    i.insert(i.begin() + axis, index);
    return i;
  }
};

te::Tensor Largest(const Along& a) {
  const te::IterVar k = te::ReduceAxis(Int(0), a.x.shape()[a.axis], "k");
  return te::Compute(
      a.Without(a.x.shape()),
      [&](const Extents& i) { return te::Max(a.Element(a.With(i, k)), {k}); },
      "T_softmax_maxelem");
}

Expr Exponential(const Along& a, const te::Tensor& largest, const Extents& i) {
  const Expr below = Sub(a.Element(i), largest(a.Without(i)));
  return Call(a.dtype, Intrinsic::kExp, {below});
}

te::Tensor SumAlong(const Along& a, FunctionRef<Expr(const Extents&)> element) {
  const te::IterVar k = te::ReduceAxis(Int(0), a.x.shape()[a.axis], "k");
  return te::Compute(
      a.Without(a.x.shape()),
      [&](const Extents& i) { return te::Sum(element(a.With(i, k)), {k}); },
      "T_softmax_expsum");
}

absl::StatusOr<Along> AlongOf(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const int axis, call.Axis("axis", rank));
  return Along{in[0], axis, SumType(in[0].dtype())};
}

te::ComputeOptions AxisNote(const Along& a) {
  te::ComputeOptions options;
  options.annotations["axis"] = Attr(Int(a.axis));
  return options;
}

te::Tensor Normalized(const Along& a) {
  const te::Tensor largest = Largest(a);
  const te::Tensor exp = te::Compute(
      a.x.shape(),
      [&](const Extents& i) -> te::Value { return Exponential(a, largest, i); },
      "T_softmax_exp");
  const te::Tensor sum = SumAlong(a, [&](const Extents& i) { return exp(i); });
  return te::Compute(
      a.x.shape(),
      [&](const Extents& i) -> te::Value {
        const Expr share = Binary(ExprKind::kDiv, exp(i), sum(a.Without(i)));
        return Cast(a.x.dtype(), share);
      },
      "T_softmax_norm", AxisNote(a));
}

absl::StatusOr<Lowered> LowerSoftmax(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Along a, AlongOf(call, in));
  return Lowered(Normalized(a));
}

absl::StatusOr<Lowered> LowerLogSoftmax(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Along a, AlongOf(call, in));
  const te::Tensor largest = Largest(a);
  const te::Tensor sum =
      SumAlong(a, [&](const Extents& i) { return Exponential(a, largest, i); });
  return Lowered(te::Compute(
      a.x.shape(),
      [&](const Extents& i) -> te::Value {
        const Extents at = a.Without(i);
        const Expr below = Sub(a.Element(i), largest(at));
        return Cast(a.x.dtype(),
                    Sub(below, Call(a.dtype, Intrinsic::kLog, {sum(at)})));
      },
      "compute", AxisNote(a)));
}

constexpr OpRow kRows[] = {
    {"nn.log_softmax", InferSoftmax, LowerLogSoftmax},
    {"nn.softmax", InferSoftmax, LowerSoftmax},
};

}  // namespace

te::Tensor Softmax(const te::Tensor& x, int axis) {
  return Normalized({x, axis, SumType(x.dtype())});
}

absl::Span<const OpRow> SoftmaxOps() { return kRows; }

}  // namespace kiln
