// Images read at places that another tensor gives, -1 to 1 along each axis of
// the image, x first:
//
//   grid = R.image.affine_grid(theta, (h, w))   (n, 2, h, w)
//       grid[n, c, y, x] = theta[n, c, 0] * at(x) + theta[n, c, 1] * at(y)
//                          + theta[n, c, 2]
//   R.image.grid_sample(image, grid)            (n, channels, h, w)
//
// With `align_corners` -1 and 1 are the middles of the first and the last
// pixel, without it their outer edges. What lies outside is 0 ("zeros"), the
// nearest pixel ("border"), or mirrored at the edge ("reflection").
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/image/image.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

Expr Quotient(const Expr& a, const Expr& b) {
  return Binary(ExprKind::kDiv, a, b);
}

// --- affine_grid.

absl::StatusOr<StructInfo> InferAffineGrid(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, RankedTensor(call, 0, 3));
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* size, call.Shape(1));
  if (size->rank != 2 && size->rank != 3) {
    return call.ErrorAt(1, "`size` has to have 2 or 3 extents");
  }
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 0, 1, Int(size->rank), "the axes of the image are"));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 0, 2, Int(size->rank + 1),
                                   "an affine map has columns"));
  if (!x->extents() || !size->values) {
    return TensorLike(*x, 2 + size->rank, nullptr);
  }
  Extents shape = {(*x->extents())[0], Int(size->rank)};
  shape.insert(shape.end(), size->values->begin(), size->values->end());
  return TensorLike(*x, 2 + size->rank, &shape);
}

// Pixel i of an axis as a place of the grid.
Expr GridPlace(const Expr& i, const Expr& extent, bool aligns, DType dtype) {
  const Expr index = Cast(dtype, i), one = Float(1, dtype);
  if (aligns) {
    const Expr steps = Cast(dtype, Max(Sub(extent, Int(1)), Int(1)));
    return Sub(Mul(index, Quotient(Float(2, dtype), steps)), one);
  }
  const Expr twice = Add(Mul(index, Float(2, dtype)), one);
  return Sub(Quotient(twice, Cast(dtype, extent)), one);
}

absl::StatusOr<Lowered> LowerAffineGrid(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferAffineGrid(call));
  KILN_ASSIGN_OR_RETURN(const bool aligns, call.Bool("align_corners"));
  const Extents& shape = *info.As<graph::TensorInfo>()->extents();
  const DType dtype = SumType(in[0].dtype());
  if (!dtype.is_float()) return absl::UnimplementedError("a map of integers");
  const size_t axes = shape.size() - 2;
  const auto theta = [&](const Extents& i, size_t column) {
    return Cast(dtype, in[0](i[0], i[1], Int(static_cast<int64_t>(column))));
  };
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Expr sum = theta(i, axes);
        for (size_t column = 0; column < axes; ++column) {
          const size_t d = shape.size() - 1 - column;
          const Expr place = GridPlace(i[d], shape[d], aligns, dtype);
          sum = Add(sum, Mul(theta(i, column), place));
        }
        return Cast(in[0].dtype(), sum);
      },
      "affine_grid"));
}

// --- grid_sample.

absl::StatusOr<int> SampledAxes(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const std::string layout, call.String("layout"));
  if (layout == "NCHW") return 2;
  if (layout == "NCDHW") return 3;
  return call.Error(
      absl::StrCat("`layout` is ", layout, "; it is NCHW or NCDHW"));
}

absl::StatusOr<StructInfo> InferGridSample(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const int axes, SampledAxes(call));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x,
                        RankedTensor(call, 0, 2 + axes));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* grid,
                        RankedTensor(call, 1, 2 + axes));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 1, 1, Int(axes), "the axes of the image are"));
  KILN_RETURN_IF_ERROR(
      CheckExtent(call, 1, 0, ExtentOf(call, 0, 0), "the batch is"));
  if (!x->extents() || !grid->extents()) {
    return TensorLike(*x, 2 + axes, nullptr);
  }
  Extents shape = *grid->extents();
  shape[0] = (*x->extents())[0];
  shape[1] = (*x->extents())[1];
  return TensorLike(*x, 2 + axes, &shape);
}

enum class Outside : uint8_t { kZeros, kBorder, kReflection };

struct Sampler {
  std::string method;
  Outside outside;
  bool aligns;
  DType dtype;  // of places
};

absl::StatusOr<Sampler> SamplerOf(const OpCall& call, DType dtype) {
  Sampler s;
  s.dtype = SumType(dtype);
  KILN_ASSIGN_OR_RETURN(s.aligns, call.Bool("align_corners"));
  KILN_ASSIGN_OR_RETURN(s.method, call.String("method"));
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("padding_mode"));
  for (const char* known : {"nearest", "bilinear", "bicubic"}) {
    if (s.method != known) continue;
    s.outside = mode == "border"       ? Outside::kBorder
                : mode == "reflection" ? Outside::kReflection
                                       : Outside::kZeros;
    if (s.outside != Outside::kZeros || mode == "zeros") return s;
    return call.Error(absl::StrCat("`padding_mode` is \"", mode,
                                   "\"; it is zeros, border or reflection"));
  }
  return call.Error(absl::StrCat("`method` is \"", s.method,
                                 "\"; it is nearest, bilinear or bicubic"));
}

Expr Clamped(const Expr& place, const Expr& extent) {
  const DType dtype = place.dtype();
  const Expr last = Cast(dtype, Sub(extent, Int(1)));
  return Max(Min(place, last), Float(0, dtype));
}

// `place` mirrored at the edges until it is inside.
Expr Reflected(const Sampler& s, const Expr& place, const Expr& extent) {
  const DType dtype = s.dtype;
  const Expr span = Max(Cast(dtype, s.aligns ? Sub(extent, Int(1)) : extent),
                        Float(1e-6, dtype));
  const Expr low = Float(s.aligns ? 0 : -0.5, dtype);
  const Expr from = Call(dtype, Intrinsic::kAbs, {Sub(place, low)});
  const Expr period = Mul(span, Float(2, dtype));
  const Expr turns = Call(dtype, Intrinsic::kFloor, {Quotient(from, period)});
  const Expr rest = Sub(from, Mul(turns, period));
  return Clamped(Add(Min(rest, Sub(period, rest)), low), extent);
}

Expr Inside(const Sampler& s, const Expr& place, const Expr& extent) {
  if (s.outside == Outside::kBorder) return Clamped(place, extent);
  if (s.outside == Outside::kReflection) return Reflected(s, place, extent);
  return place;
}

// The place of the image that the grid means.
Expr ImagePlace(const Sampler& s, const Expr& grid, const Expr& extent) {
  const Expr half = Float(0.5, s.dtype);
  const Expr share = Mul(Add(Cast(s.dtype, grid), Float(1, s.dtype)), half);
  if (s.aligns) return Mul(share, Cast(s.dtype, Sub(extent, Int(1))));
  return Sub(Mul(share, Cast(s.dtype, extent)), half);
}

std::vector<Tap> TapsAt(const Sampler& s, const Expr& place,
                        const Expr& extent) {
  if (s.method == "bicubic") {
    std::vector<Tap> taps = CubicTaps(place, -0.75);
    for (Tap& tap : taps) {
      const Expr at = Inside(s, Cast(s.dtype, tap.index), extent);
      tap.index = Cast(DType::Index(), at);
    }
    return taps;
  }
  const Expr inside = Inside(s, place, extent);
  if (s.method == "bilinear") return LinearTaps(inside);
  const Expr nearest = Call(s.dtype, Intrinsic::kNearbyint, {inside});
  return {{Cast(DType::Index(), nearest), Expr()}};
}

// The pixel there, 0 outside of the image.
Expr PixelAt(const te::Tensor& x, Extents at) {
  Expr inside;
  for (size_t d = 2; d < at.size(); ++d) {
    const Expr here = And(LE(Int(0), at[d]), LT(at[d], x.shape()[d]));
    inside = inside ? And(inside, here) : here;
  }
  return Call(x.dtype(), Intrinsic::kIfThenElse,
              {inside, x(std::move(at)), Constant(0, x.dtype())});
}

absl::StatusOr<Lowered> LowerGridSample(const OpCall& call, const Inputs& in) {
  const te::Tensor &x = in[0], &grid = in[1];
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferGridSample(call));
  KILN_ASSIGN_OR_RETURN(const Sampler s, SamplerOf(call, grid.dtype()));
  if (!s.dtype.is_float())
    return absl::UnimplementedError("a grid of integers");
  const Extents& shape = *info.As<graph::TensorInfo>()->extents();
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        std::vector<std::vector<Tap>> taps;
        for (size_t d = 2; d < shape.size(); ++d) {
          Extents at = i;  // x is the first of the grid, and the last axis
          at[1] = Int(static_cast<int64_t>(shape.size() - 1 - d));
          taps.push_back(
              TapsAt(s, ImagePlace(s, grid(at), x.shape()[d]), x.shape()[d]));
        }
        const Expr sum = SumOfTaps(taps, [&](const Extents& spatial) {
          Extents at = {i[0], i[1]};
          at.insert(at.end(), spatial.begin(), spatial.end());
          return Cast(s.dtype, PixelAt(x, std::move(at)));
        });
        return Cast(x.dtype(), sum);
      },
      "grid_sample"));
}

constexpr OpRow kRows[] = {
    {"image.affine_grid", InferAffineGrid, LowerAffineGrid},
    {"image.grid_sample", InferGridSample, LowerGridSample},
};

}  // namespace

absl::Span<const OpRow> GridOps() { return kRows; }

}  // namespace kiln
