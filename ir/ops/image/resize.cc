// R.image.resize2d and resize3d: each pixel of the result is read at a place of
// the image, between its pixels. Of an axis of `in` pixels that gets `out`,
// place p of the result is
//
//   half_pixel            (p + 0.5) * in / out - 0.5
//   pytorch_half_pixel    the same, and 0 where out is 1
//   tf_half_pixel_for_nn  (p + 0.5) * in / out
//   asymmetric            p * in / out
//   align_corners         p * (in - 1) / (out - 1)
//   tf_crop_and_resize    between roi[axis] and roi[axis + axes], in units of
//                         in - 1; outside of the image is extrapolation_value
//
// "nearest_neighbor" reads the pixel that rounding_method says, "linear" two of
// each axis, "cubic" four. Pixels outside of the image are those of its border.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/image/image.h"
#include "kiln/ir/ops/tensors.h"
#include "kiln/ir/ops/window.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

absl::StatusOr<StructInfo> InferResize(const OpCall& call, size_t spatial) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* size, call.Shape(1));
  if (size->rank != static_cast<int>(spatial)) {
    return call.ErrorAt(
        1, absl::StrCat("`size` has to have ", spatial, " extents"));
  }
  const std::string names = AxesOf("NC", spatial);
  KILN_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(call, "layout", names));
  KILN_ASSIGN_OR_RETURN(DType dtype, call.Type("out_dtype"));
  if (dtype.is_void()) dtype = x->dtype;
  KILN_ASSIGN_OR_RETURN(std::optional<Extents> axes,
                        AxisExtentsOf(call, 0, layout, names));
  if (!axes || !size->values) {
    return graph::TensorOfRank(layout.rank(), dtype, x->device);
  }
  for (size_t d = 0; d < spatial; ++d) (*axes)[2 + d] = (*size->values)[d];
  KILN_ASSIGN_OR_RETURN(Extents shape,
                        SimplifiedExtents(call, layout.Extents(names, *axes)));
  return graph::Tensor(std::move(shape), dtype, x->device);
}

template <size_t spatial>
absl::StatusOr<StructInfo> InferResizeOf(const OpCall& call) {
  return InferResize(call, spatial);
}

// --- Lowering.

struct Resize {
  std::string method, mode, rounding;
  std::vector<double> roi;
  double alpha, extrapolation;
  bool excludes;
  DType dtype;  // of places and weights
};

absl::StatusOr<Resize> ResizeOf(const OpCall& call, size_t spatial,
                                DType dtype) {
  Resize r;
  r.dtype = dtype == DType::Float(64) ? dtype : DType::Float(32);
  KILN_ASSIGN_OR_RETURN(r.method, call.String("method"));
  KILN_ASSIGN_OR_RETURN(r.mode, call.String("coordinate_transformation_mode"));
  KILN_ASSIGN_OR_RETURN(r.rounding, call.String("rounding_method"));
  KILN_ASSIGN_OR_RETURN(r.roi, call.Reals("roi"));
  KILN_ASSIGN_OR_RETURN(r.alpha, call.Real("cubic_alpha"));
  KILN_ASSIGN_OR_RETURN(const int64_t excludes, call.Int("cubic_exclude"));
  r.excludes = excludes != 0;
  KILN_ASSIGN_OR_RETURN(r.extrapolation, call.Real("extrapolation_value"));
  if (r.mode == "tf_crop_and_resize" && r.roi.size() != 2 * spatial) {
    return call.Error(
        absl::StrCat("`roi` has to hold ", 2 * spatial, " numbers to crop by"));
  }
  for (const char* known : {"nearest_neighbor", "linear", "cubic"}) {
    if (r.method == known) return r;
  }
  return call.Error(absl::StrCat("`method` is \"", r.method,
                                 "\"; it is nearest_neighbor, linear or "
                                 "cubic"));
}

Expr Quotient(const Expr& a, const Expr& b) {
  return Binary(ExprKind::kDiv, a, b);
}

// An axis of the image and of the result.
struct Axis {
  size_t number, count;
  Expr in, out;
};

Expr CroppedPlace(const Resize& r, const Axis& axis, const Expr& p) {
  const double start = r.roi[axis.number];
  const double end = r.roi[axis.number + axis.count];
  const Expr reach = Cast(r.dtype, Sub(axis.in, Int(1)));
  const Expr steps = Cast(r.dtype, Max(Sub(axis.out, Int(1)), Int(1)));
  const Expr step = Quotient(Mul(Float(end - start, r.dtype), reach), steps);
  const Expr many = Add(Mul(Float(start, r.dtype), reach), Mul(p, step));
  const Expr one = Mul(Float(0.5 * (start + end), r.dtype), reach);
  return Select(LT(Int(1), axis.out), many, one);
}

absl::StatusOr<Expr> PlaceOf(const OpCall& call, const Resize& r,
                             const Axis& axis, const Expr& index) {
  const Expr p = Cast(r.dtype, index);
  const auto real = [&](const Expr& e) { return Cast(r.dtype, e); };
  const Expr half = Float(0.5, r.dtype);
  const Expr scale = Quotient(real(axis.in), real(axis.out));
  const Expr middle = Mul(Add(p, half), scale);
  if (r.mode == "half_pixel") return Sub(middle, half);
  if (r.mode == "tf_half_pixel_for_nn") return middle;
  if (r.mode == "asymmetric") return Mul(p, scale);
  if (r.mode == "tf_crop_and_resize") return CroppedPlace(r, axis, p);
  if (r.mode == "pytorch_half_pixel") {
    return Select(LT(Int(1), axis.out), Sub(middle, half), Float(0, r.dtype));
  }
  if (r.mode == "align_corners") {
    const Expr steps = real(Max(Sub(axis.out, Int(1)), Int(1)));
    return Mul(p, Quotient(real(Sub(axis.in, Int(1))), steps));
  }
  return call.Error(absl::StrCat("`coordinate_transformation_mode` is \"",
                                 r.mode, "\", which is none"));
}

absl::StatusOr<Expr> NearestTo(const OpCall& call, const Resize& r,
                               const Expr& place) {
  const auto rounded = [&](Intrinsic op, double shift) {
    const Expr shifted = shift == 0 ? place : Add(place, Float(shift, r.dtype));
    return Cast(DType::Index(), kiln::Call(r.dtype, op, {shifted}));
  };
  // Places that are whole but for rounding errors stay whole.
  constexpr double kEpsilon = 1e-5;
  const std::string& method = r.rounding;
  if (method == "round" || method.empty()) {
    return rounded(Intrinsic::kRound, 0);
  }
  if (method == "round_prefer_floor") return rounded(Intrinsic::kCeil, -0.5);
  if (method == "round_prefer_ceil") return rounded(Intrinsic::kFloor, 0.5);
  if (method == "floor") return rounded(Intrinsic::kFloor, kEpsilon);
  if (method == "ceil") return rounded(Intrinsic::kCeil, -kEpsilon);
  return call.Error(
      absl::StrCat("`rounding_method` is \"", method, "\", which is none"));
}

// Taps outside of the image count for nothing; the others make up for them.
std::vector<Tap> Excluding(std::vector<Tap> taps, const Expr& extent) {
  Expr sum;
  for (Tap& tap : taps) {
    const Expr inside = And(LE(Int(0), tap.index), LT(tap.index, extent));
    const Expr zero = Float(0, tap.weight.dtype());
    tap.weight = Select(inside, tap.weight, zero);
    sum = sum ? Add(sum, tap.weight) : tap.weight;
  }
  for (Tap& tap : taps) tap.weight = Quotient(tap.weight, sum);
  return taps;
}

absl::StatusOr<std::vector<Tap>> TapsOf(const OpCall& call, const Resize& r,
                                        const Axis& axis, const Expr& place) {
  std::vector<Tap> taps;
  if (r.method == "nearest_neighbor") {
    KILN_ASSIGN_OR_RETURN(const Expr index, NearestTo(call, r, place));
    taps = {{index, Expr()}};
  } else if (r.method == "linear") {
    taps = LinearTaps(place);
  } else {
    taps = CubicTaps(place, r.alpha);
    if (r.excludes) taps = Excluding(std::move(taps), axis.in);
  }
  for (Tap& tap : taps) tap.index = ClampedIndex(tap.index, axis.in);
  return taps;
}

// `value` where all places are inside of the image.
Expr Extrapolated(const Resize& r, const std::vector<Axis>& axes,
                  const Extents& places, const Expr& value) {
  if (r.mode != "tf_crop_and_resize") return value;
  Expr inside;
  for (size_t d = 0; d < axes.size(); ++d) {
    const Expr last = Cast(r.dtype, Sub(axes[d].in, Int(1)));
    const Expr here =
        And(LE(Float(0, r.dtype), places[d]), LE(places[d], last));
    inside = inside ? And(inside, here) : here;
  }
  return Select(inside, value, Constant(r.extrapolation, value.dtype()));
}

absl::StatusOr<Expr> PixelOf(const OpCall& call, const Resize& r,
                             const std::vector<Axis>& axes, const Extents& at,
                             FunctionRef<Expr(const Extents&)> pixel) {
  std::vector<std::vector<Tap>> taps;
  Extents places;
  for (const Axis& axis : axes) {
    KILN_ASSIGN_OR_RETURN(places.emplace_back(),
                          PlaceOf(call, r, axis, at[2 + axis.number]));
    KILN_ASSIGN_OR_RETURN(taps.emplace_back(),
                          TapsOf(call, r, axis, places.back()));
  }
  const bool is_nearest = r.method == "nearest_neighbor";
  const Expr sum = SumOfTaps(taps, [&](const Extents& spatial) {
    Extents own = {at[0], at[1]};
    own.insert(own.end(), spatial.begin(), spatial.end());
    const Expr value = pixel(own);
    return is_nearest ? value : Cast(r.dtype, value);
  });
  return Extrapolated(r, axes, places, sum);
}

template <size_t spatial>
absl::StatusOr<Lowered> LowerResize(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Resize r, ResizeOf(call, spatial, in[0].dtype()));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferResize(call, spatial));
  const auto* result = info.As<graph::TensorInfo>();
  const std::string names = AxesOf("NC", spatial);
  KILN_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(call, "layout", names));
  const Extents image = layout.AxisExtents(names, in[0].shape());
  const Extents out = layout.AxisExtents(names, *result->extents());
  std::vector<Axis> axes;
  for (size_t d = 0; d < spatial; ++d) {
    axes.push_back({d, spatial, image[2 + d], out[2 + d]});
  }
  absl::Status status;
  const te::Tensor resized = te::Compute(
      *result->extents(),
      [&](const Extents& i) -> te::Value {
        const absl::StatusOr<Expr> value =
            PixelOf(call, r, axes, layout.AxisIndices(names, i),
                    [&](const Extents& at) {
                      return in[0](layout.Indices(names, at));
                    });
        if (!value.ok()) status = value.status();
        return value.ok() ? Cast(result->dtype, *value)
                          : Constant(0, result->dtype);
      },
      "resize");
  KILN_RETURN_IF_ERROR(status);
  return Lowered(resized);
}

constexpr OpRow kRows[] = {
    {"image.resize2d", InferResizeOf<2>, LowerResize<2>},
    {"image.resize3d", InferResizeOf<3>, LowerResize<3>},
};

}  // namespace

absl::Span<const OpRow> ResizeOps() { return kRows; }

}  // namespace kiln
