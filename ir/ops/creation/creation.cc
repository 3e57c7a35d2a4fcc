// Tensors of one value, and of values in a row:
//
//   R.full((2, n), v)               y[i, j] = v
//   R.arange(1, n, 2, "int64")      y[i] = 1 + 2 * i, ceil((n - 1) / 2) of them
//   R.hamming_window(n, True, a, b, "float32")
//                                   y[i] = a - b * cos(2 * pi * i / n)
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// --- One value.

// A value to fill with is a tensor of no dimensions or a number.
absl::StatusOr<DType> TypeOfFill(const OpCall& call, std::string* device) {
  if (call.Has(1)) {
    if (const auto* number = call.info(1).As<graph::PrimInfo>()) {
      return number->dtype;
    }
  }
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* value, call.Tensor(1));
  KILN_RETURN_IF_ERROR(CheckKnownRank(call, 1, *value, 0));
  *device = value->device;
  return value->dtype;
}

absl::StatusOr<StructInfo> InferFull(const OpCall& call) {
  std::string device;
  KILN_ASSIGN_OR_RETURN(const DType of_value, TypeOfFill(call, &device));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return TensorOfShapeArg(call, 0, dtype.is_void() ? of_value : dtype, device);
}

absl::StatusOr<StructInfo> InferLike(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return dtype.is_void() ? call.info(0) : WithType(*x, dtype);
}

absl::StatusOr<StructInfo> InferFullLike(const OpCall& call) {
  std::string device;
  KILN_RETURN_IF_ERROR(TypeOfFill(call, &device).status());
  return InferLike(call);
}

absl::StatusOr<StructInfo> InferUniform(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  if (dtype.is_void()) return call.Error("`dtype` has to be given");
  return TensorOfShapeArg(call, 0, dtype);
}

absl::StatusOr<Lowered> Filled(const StructInfo& info, const Expr& value) {
  const auto* result = info.As<graph::TensorInfo>();
  if (!result->extents() || result->dtype.is_void()) {
    return absl::UnimplementedError("extents or type are not known");
  }
  return Lowered(te::Compute(
      *result->extents(),
      [&](const std::vector<Expr>&) -> te::Value {
        return Cast(result->dtype, value);
      },
      "full"));
}

// The value that argument 1 is, as an element of the result where it is known.
absl::StatusOr<Expr> FillOf(const OpCall& call, const Inputs& in, DType dtype) {
  const absl::StatusOr<Expr> known = call.Number(1);
  if (known.ok() && *known) {
    const auto* real = known->As<FloatImmNode>();
    const int64_t* whole = AsInt(*known);
    if (whole && !dtype.is_bool()) {
      return dtype.is_float() ? Float(static_cast<double>(*whole), dtype)
                              : Cast(dtype, *known);
    }
    if (real && dtype.is_float()) return Float(real->value, dtype);
    return *known;
  }
  if (call.info(1).As<graph::TensorInfo>()) return in.back()({});
  return absl::UnimplementedError("the number is not known");
}

template <InferFn infer>
absl::StatusOr<Lowered> LowerFull(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, infer(call));
  const DType dtype = info.As<graph::TensorInfo>()->dtype;
  KILN_ASSIGN_OR_RETURN(const Expr value, FillOf(call, in, dtype));
  return Filled(info, value);
}

template <InferFn infer, int value>
absl::StatusOr<Lowered> LowerUniform(const OpCall& call, const Inputs&) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, infer(call));
  const DType dtype = info.As<graph::TensorInfo>()->dtype;
  if (dtype.is_void()) return absl::UnimplementedError("the type is unknown");
  return Filled(info, Constant(value, dtype));
}

// --- Values in a row.

struct Progression {
  Expr start, end, step;  // of one type; null where not known
  DType dtype() const { return start.dtype(); }
  bool is_known() const { return start && end && step; }
};

// `value` as one of `dtype`: an int64 or a float.
Expr Converted(const Expr& value, DType dtype) {
  const int64_t* whole = AsInt(value);
  if (whole && dtype.is_float()) {
    return Float(static_cast<double>(*whole), dtype);
  }
  const auto* real = value.As<FloatImmNode>();
  return real ? Float(real->value, dtype) : Cast(dtype, value);
}

// The floats among the numbers decide the type that they are counted in.
DType CountType(const Progression& p) {
  DType dtype = DType::Index();
  for (const Expr* e : {&p.start, &p.end, &p.step}) {
    const DType own = e->dtype();
    const bool is_fixed = !e->As<FloatImmNode>();
    if (own.is_float() && (is_fixed || !dtype.is_float())) dtype = own;
  }
  return dtype;
}

absl::StatusOr<Progression> ProgressionOf(const OpCall& call) {
  Progression p;
  Expr* parts[] = {&p.start, &p.end, &p.step};
  for (size_t i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(*parts[i], call.Number(i));
  }
  if (!p.is_known()) return p;
  const DType dtype = CountType(p);
  for (Expr* part : parts) *part = Converted(*part, dtype);
  const auto* step = p.step.As<FloatImmNode>();
  if (IsZero(p.step) || (step && step->value == 0)) {
    return call.ErrorAt(2, "a step of 0 never comes to the end");
  }
  return p;
}

// ceil((end - start) / step) of floats.
absl::StatusOr<Expr> RealCount(const OpCall& call, const Progression& p) {
  const auto* start = p.start.As<FloatImmNode>();
  const auto* end = p.end.As<FloatImmNode>();
  const auto* step = p.step.As<FloatImmNode>();
  if (start && end && step) {
    const double count = std::ceil((end->value - start->value) / step->value);
    if (count < 0x1p62) return Int(static_cast<int64_t>(std::fmax(count, 0)));
    return call.Error("there are too many numbers");
  }
  Expr distance = p.end;
  if (!start || start->value != 0) distance = Sub(distance, p.start);
  if (!step || step->value != 1) {
    distance = Binary(ExprKind::kDiv, distance, p.step);
  }
  return Cast(DType::Index(), Call(p.dtype(), Intrinsic::kCeil, {distance}));
}

// (end - start + step - 1) / step of integers, down to 0 where it is known.
Expr WholeCount(const Progression& p) {
  const int64_t* start = AsInt(p.start);
  const int64_t* step = AsInt(p.step);
  if (step && *step < 0 && *step > INT64_MIN) {
    return WholeCount({p.end, p.start, Int(-*step)});
  }
  Expr distance;
  if (step) {
    distance = start && *start > INT64_MIN / 2 && *start < INT64_MAX / 2 &&
                       *step < INT64_MAX / 2
                   ? Plus(p.end, *step - 1 - *start)
                   : Sub(Plus(p.end, *step - 1), p.start);
  } else {
    const Expr end = Add(p.end, p.step);
    distance = start ? Plus(end, -1 - *start) : Sub(Sub(end, p.start), Int(1));
  }
  if (!IsOne(p.step)) distance = FloorDiv(distance, p.step);
  const int64_t* count = AsInt(distance);
  return count && *count < 0 ? Int(0) : distance;
}

absl::StatusOr<StructInfo> InferArange(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Progression p, ProgressionOf(call));
  KILN_ASSIGN_OR_RETURN(DType dtype, call.Type("dtype"));
  if (!p.is_known()) return graph::TensorOfRank(1, dtype);
  if (dtype.is_void()) dtype = p.dtype();
  if (!p.dtype().is_float()) return graph::Tensor({WholeCount(p)}, dtype);
  KILN_ASSIGN_OR_RETURN(Expr count, RealCount(call, p));
  return graph::Tensor({std::move(count)}, dtype);
}

absl::StatusOr<Lowered> LowerArange(const OpCall& call, const Inputs&) {
  KILN_ASSIGN_OR_RETURN(const Progression p, ProgressionOf(call));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferArange(call));
  const auto* result = info.As<graph::TensorInfo>();
  if (!result->extents()) return absl::UnimplementedError("a count is unknown");
  return Lowered(te::Compute(
      *result->extents(),
      [&](const std::vector<Expr>& i) -> te::Value {
        const Expr index = Cast(p.dtype(), i[0]);
        return Cast(result->dtype, Add(p.start, Mul(index, p.step)));
      },
      "arange"));
}

absl::StatusOr<StructInfo> InferWindow(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Expr size, call.Number(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  if (!dtype.is_float()) {
    return call.Error("a window holds floats; give such a `dtype`");
  }
  if (!size) return graph::TensorOfRank(1, dtype);
  if (!size.dtype().is_integral()) {
    return call.ErrorAt(0, "the size of a window has to be an integer");
  }
  const Expr extent = Cast(DType::Index(), size);
  const int64_t* known = AsInt(extent);
  if (known && *known < 1) {
    return call.ErrorAt(0, "the size of a window has to be positive");
  }
  return graph::Tensor({extent}, dtype);
}

absl::StatusOr<Lowered> LowerWindow(const OpCall& call, const Inputs&) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferWindow(call));
  KILN_ASSIGN_OR_RETURN(const bool is_periodic, call.BoolArg(1));
  KILN_ASSIGN_OR_RETURN(const double alpha, call.RealArg(2));
  KILN_ASSIGN_OR_RETURN(const double beta, call.RealArg(3));
  const auto* result = info.As<graph::TensorInfo>();
  if (!result->extents()) return absl::UnimplementedError("a size is unknown");
  const DType dtype = result->dtype;
  const Expr size = result->extents()->front();
  // A window of one element is 1 and has no period.
  const Expr period = Max(is_periodic ? size : Plus(size, -1), Int(1));
  return Lowered(te::Compute(
      {size},
      [&](const std::vector<Expr>& i) -> te::Value {
        const Expr angle = Binary(
            ExprKind::kDiv, Mul(Cast(dtype, i[0]), Float(2 * M_PI, dtype)),
            Cast(dtype, period));
        const Expr wave = Call(dtype, Intrinsic::kCos, {angle});
        const Expr value =
            Sub(Float(alpha, dtype), Mul(Float(beta, dtype), wave));
        return Select(EQ(size, Int(1)), Float(1, dtype), value);
      },
      "hamming_window"));
}

constexpr OpRow kRows[] = {
    {"arange", InferArange, LowerArange},
    {"full", InferFull, LowerFull<InferFull>},
    {"full_like", InferFullLike, LowerFull<InferFullLike>},
    {"hamming_window", InferWindow, LowerWindow},
    {"ones", InferUniform, LowerUniform<InferUniform, 1>},
    {"ones_like", InferLike, LowerUniform<InferLike, 1>},
    {"zeros", InferUniform, LowerUniform<InferUniform, 0>},
    {"zeros_like", InferLike, LowerUniform<InferLike, 0>},
};

}  // namespace

absl::Span<const OpRow> CreationOps() { return kRows; }

}  // namespace kiln
