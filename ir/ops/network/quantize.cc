// Numbers as small integers and back, by a scale and a zero point that are one
// for all, or one for each place of an axis:
//
//   R.quantize(x, s, z, out_dtype="int8", axis=1)
//       clip(round(x[i, j] / s[j]) + z[j], -128, 127)
//   R.dequantize(q, s, z, axis=1)
//       (q[i, j] - z[j]) * s[j], which a narrow type holds at its bounds
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/ops/network/network.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;
using Extents = std::vector<Expr>;

bool IsOneElement(const graph::TensorInfo& x) {
  if (x.rank == 0) return true;
  return x.rank == 1 && x.extents() && IsOne((*x.extents())[0]);
}

// A scale or a zero point: a scalar, or one for each place of the axis.
absl::Status CheckParameter(const OpCall& call, size_t arg, int rank,
                            int axis) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* p, call.Tensor(arg));
  if (IsOneElement(*p) || p->rank == graph::kUnknownRank) {
    return absl::OkStatus();
  }
  if (p->rank != 1 || rank == 0) {
    return call.ErrorAt(arg, rank == 0 ? "it is a scalar, as the data is"
                                       : "it has at most one dimension");
  }
  if (rank == graph::kUnknownRank) return absl::OkStatus();
  return CheckExtent(call, arg, 0, ExtentOf(call, 0, axis),
                     "the axis of the data has");
}

bool IsNarrowInt(DType dtype) {
  return dtype.is_integral() && !dtype.is_bool() && dtype.bits() <= 32;
}

// The axis, which counts for nothing where there is none.
absl::StatusOr<int> QuantizedAxis(const OpCall& call, int rank) {
  if (rank != 0) return call.Axis("axis", rank);
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Int("axis"));
  if (axis == 0 || axis == -1) return 0;
  return call.Error("a scalar has no axis but 0 and -1");
}

absl::StatusOr<StructInfo> InferQuantized(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("out_dtype"));
  KILN_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(call, x->rank));
  KILN_RETURN_IF_ERROR(FloatTensor(call, 1).status());
  for (const size_t arg : {1, 2}) {
    KILN_RETURN_IF_ERROR(CheckParameter(call, arg, x->rank, axis));
  }
  if (!dtype.is_void()) return WithType(*x, dtype);
  return call.Error("`out_dtype` has to be a type");
}

absl::StatusOr<StructInfo> InferQuantize(const OpCall& call) {
  KILN_RETURN_IF_ERROR(FloatTensor(call, 0).status());
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("out_dtype"));
  if (IsNarrowInt(dtype) || (dtype.is_float() && dtype.bits() == 8)) {
    return InferQuantized(call);
  }
  return call.Error("`out_dtype` is an integer of at most 32 bits");
}

absl::StatusOr<StructInfo> InferDequantize(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("out_dtype"));
  if (!dtype.is_void() && !dtype.is_float()) {
    return call.Error("`out_dtype` is a type of floats");
  }
  const bool is_small = x->dtype.is_void() || IsNarrowInt(x->dtype) ||
                        (x->dtype.is_float() && x->dtype.bits() == 8);
  if (is_small) return InferQuantized(call);
  return call.ErrorAt(0, "it has to be of integers of at most 32 bits");
}

// The scale or the zero point of the element at `i`.
Expr ParameterAt(const te::Tensor& parameter, const Extents& i, int axis) {
  if (parameter.shape().empty()) return parameter(Extents{});
  if (IsOne(parameter.shape()[0])) return parameter(Extents{Int(0)});
  return parameter(Extents{i[axis]});
}

// `value` within the bounds of a type: of an integer one as far as a float32
// holds them, of floats where it is a narrow one.
Expr Clipped(const Expr& value, DType dtype) {
  if (dtype.is_float()) {
    if (dtype.bits() >= value.dtype().bits()) return value;
    const double bound = HighestReal(dtype);
    return Max(Min(value, Float(bound, value.dtype())),
               Float(-bound, value.dtype()));
  }
  const int digits = dtype.is_uint() ? dtype.bits() : dtype.bits() - 1;
  const double highest = static_cast<double>((int64_t{1} << digits) - 1);
  const double lowest = dtype.is_uint() ? 0 : -highest - 1;
  return Max(Min(value, Float(highest, value.dtype())),
             Float(lowest, value.dtype()));
}

absl::StatusOr<Lowered> LowerQuantize(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("out_dtype"));
  KILN_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(call, rank));
  if (!dtype.is_integral() || dtype.bits() > 16 || in.size() != 3) {
    return absl::UnimplementedError("a quantized type that rounds floats");
  }
  const DType real = SumType(in[0].dtype());
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Expr scale = Cast(real, ParameterAt(in[1], i, axis));
        const Expr zero = Cast(real, ParameterAt(in[2], i, axis));
        const Expr steps = Binary(ExprKind::kDiv, Cast(real, in[0](i)), scale);
        const Expr whole = Call(real, Intrinsic::kRound, {steps});
        return Cast(dtype, Clipped(Add(whole, zero), dtype));
      },
      "quantized"));
}

absl::StatusOr<Lowered> LowerDequantize(const OpCall& call, const Inputs& in) {
  const int rank = static_cast<int>(in[0].shape().size());
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("out_dtype"));
  KILN_ASSIGN_OR_RETURN(const int axis, QuantizedAxis(call, rank));
  if (!in[0].dtype().is_integral() || dtype.is_void() || in.size() != 3) {
    return absl::UnimplementedError("a quantized type of floats");
  }
  const DType real = SumType(dtype), of_zero = in[2].dtype();
  const DType whole = of_zero.is_float() ? SumType(of_zero) : DType::Int(32);
  return Lowered(te::Compute(
      in[0].shape(),
      [&](const Extents& i) -> te::Value {
        const Expr zero = Cast(whole, ParameterAt(in[2], i, axis));
        const Expr steps = Sub(Cast(whole, in[0](i)), zero);
        const Expr scale = Cast(real, ParameterAt(in[1], i, axis));
        return Cast(dtype, Clipped(Mul(Cast(real, steps), scale), dtype));
      },
      "dequantized"));
}

constexpr OpRow kRows[] = {
    {"dequantize", InferDequantize, LowerDequantize},
    {"quantize", InferQuantize, LowerQuantize},
};

}  // namespace

absl::Span<const OpRow> QuantizeOps() { return kRows; }

}  // namespace kiln
