// Images read under boxes, "regions of interest": (image, x1, y1, x2, y2) in
// pixels of a larger image, of which `spatial_scale` makes pixels of this one.
//
//   R.vision.roi_align(x, rois, pooled_size=(7, 7), spatial_scale=0.25)
//       each region is cut into 7 x 7 bins; a bin is the mean (or the largest)
//       of places spread over it, read between pixels
//   R.vision.roi_pool(x, rois, pooled_size=(7, 7), spatial_scale=0.25)
//       a bin is the largest of the pixels in it, 0 where it has none
//
// How many places or pixels a bin has depends on its region; loops run as far
// as a bin can reach, and what lies behind counts for nothing.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/image/image.h"
#include "kiln/ir/ops/tensors.h"
#include "kiln/ir/ops/vision/vision.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

struct Regions {
  std::vector<int64_t> size;  // rows and columns of bins
  double scale;
  bool channels_last;
};

absl::StatusOr<Regions> RegionsOf(const OpCall& call, bool takes_nhwc) {
  Regions r;
  KILN_ASSIGN_OR_RETURN(r.size, call.Ints("pooled_size", 2));
  for (const int64_t bins : r.size) {
    if (bins >= 1 && bins <= INT32_MAX) continue;
    return call.Error(absl::StrCat("`pooled_size` has ", bins,
                                   "; there is at least one bin"));
  }
  KILN_ASSIGN_OR_RETURN(r.scale, call.Real("spatial_scale"));
  KILN_ASSIGN_OR_RETURN(const std::string layout, call.String("layout"));
  r.channels_last = layout == "NHWC" && takes_nhwc;
  if (r.channels_last || layout == "NCHW") return r;
  return call.Error(absl::StrCat("`layout` is ", layout, "; it is NCHW",
                                 takes_nhwc ? " or NHWC" : ""));
}

absl::StatusOr<StructInfo> InferRegions(const OpCall& call, bool takes_nhwc) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, RankedTensor(call, 0, 4));
  KILN_ASSIGN_OR_RETURN(const TensorInfo* rois, RankedTensor(call, 1, 2));
  KILN_RETURN_IF_ERROR(CheckExtent(call, 1, 1, Int(5), "a region has"));
  KILN_ASSIGN_OR_RETURN(const Regions r, RegionsOf(call, takes_nhwc));
  if (!x->dtype.is_void() && !rois->dtype.is_void() &&
      x->dtype != rois->dtype) {
    return call.ErrorAt(1, "its type is not that of the image");
  }
  const Expr channels = ExtentOf(call, 0, r.channels_last ? 3 : 1);
  const Expr count = ExtentOf(call, 1, 0);
  if (!channels || !count) return TensorLike(*x, 4, nullptr);
  Extents shape = {count, channels, Int(r.size[0]), Int(r.size[1])};
  if (r.channels_last)
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  return TensorLike(*x, 4, &shape);
}

absl::StatusOr<StructInfo> InferRoiAlign(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("mode"));
  if (mode == "avg" || mode == "max") return InferRegions(call, true);
  return call.Error(absl::StrCat("`mode` is \"", mode, "\"; it is avg or max"));
}

absl::StatusOr<StructInfo> InferRoiPool(const OpCall& call) {
  return InferRegions(call, false);
}

// --- Lowering.

Expr Quotient(const Expr& a, const Expr& b) {
  return Binary(ExprKind::kDiv, a, b);
}

Expr Whole(Intrinsic op, const Expr& e) {
  return Cast(DType::Index(), Call(e.dtype(), op, {e}));
}

// An image as (n, c, h, w), and its regions.
struct Reader {
  Regions regions;
  te::Tensor image, rois;

  DType dtype() const { return image.dtype(); }
  Expr Real(double value) const { return Float(value, dtype()); }
  Expr Rows(int axis) const {
    return image.shape()[axis + (regions.channels_last ? 1 : 2)];
  }
  Expr Pixel(const Expr& n, const Expr& c, const Expr& h, const Expr& w) const {
    return regions.channels_last ? image(n, h, w, c) : image(n, c, h, w);
  }
  Expr Image(const Expr& roi) const {
    return Cast(DType::Index(), rois(roi, Int(0)));
  }
  // Coordinate 0: x1, 1: y1, 2: x2, 3: y2.
  Expr Corner(const Expr& roi, int coordinate) const {
    return rois(roi, Int(coordinate + 1));
  }
  // A result (roi, c, bin row, bin column) in the layout.
  te::Tensor Result(const Extents& shape, const te::Formula& formula,
                    const std::string& name) const {
    return te::Compute(
        shape,
        [&](const Extents& i) {
          if (!regions.channels_last) return formula(i);
          return formula({i[0], i[3], i[1], i[2]});
        },
        name);
  }
};

struct Aligned {
  Reader reader;
  int64_t samples;  // of each axis; 0: as many as a bin has pixels
  bool aligned, is_mean;
};

// Where the region begins along an axis (0: rows), and the extent of a bin.
Expr Begin(const Aligned& a, const Expr& roi, int axis) {
  const Reader& r = a.reader;
  const Expr at = Mul(r.Corner(roi, 1 - axis), r.Real(r.regions.scale));
  return a.aligned ? Sub(at, r.Real(0.5)) : at;
}

Expr BinExtent(const Aligned& a, const Expr& roi, int axis) {
  const Reader& r = a.reader;
  const Expr begin = r.Corner(roi, 1 - axis), end = r.Corner(roi, 3 - axis);
  const Expr scale = r.Real(r.regions.scale);
  Expr extent = Sub(Mul(end, scale), Mul(begin, scale));
  if (!a.aligned) extent = Max(extent, r.Real(1));
  return Quotient(extent, r.Real(static_cast<double>(r.regions.size[axis])));
}

Expr Samples(const Aligned& a, const Expr& roi, int axis) {
  if (a.samples > 0) return Int(a.samples);
  return Max(Whole(Intrinsic::kCeil, BinExtent(a, roi, axis)), Int(0));
}

// The image between its pixels; 0 more than one pixel outside.
Expr Between(const Reader& r, const Expr& n, const Expr& c, const Expr& y,
             const Expr& x) {
  const Expr places[] = {y, x};
  std::vector<std::vector<Tap>> taps;
  Expr inside;
  for (int axis = 0; axis < 2; ++axis) {
    const Expr rows = r.Rows(axis);
    const Expr here = And(LE(r.Real(-1), places[axis]),
                          LE(places[axis], Cast(r.dtype(), rows)));
    inside = inside ? And(inside, here) : here;
    const Expr last = Cast(r.dtype(), Sub(rows, Int(1)));
    taps.push_back(LinearTaps(Max(Min(places[axis], last), r.Real(0))));
    for (Tap& tap : taps.back()) tap.index = ClampedIndex(tap.index, rows);
  }
  const Expr value = SumOfTaps(
      taps, [&](const Extents& at) { return r.Pixel(n, c, at[0], at[1]); });
  return Call(r.dtype(), Intrinsic::kIfThenElse, {inside, value, r.Real(0)});
}

// Sample `k` of the bin i (roi, c, row, column) along an axis.
Expr SamplePlace(const Aligned& a, const Extents& i, int axis, const Expr& k) {
  const Reader& r = a.reader;
  const Expr extent = BinExtent(a, i[0], axis);
  const Expr bin = Mul(Cast(r.dtype(), i[2 + axis]), extent);
  const Expr step = Quotient(extent, Cast(r.dtype(), Samples(a, i[0], axis)));
  const Expr middle = Add(Cast(r.dtype(), k), r.Real(0.5));
  return Add(Add(Begin(a, i[0], axis), bin), Mul(middle, step));
}

absl::StatusOr<Lowered> LowerRoiAlign(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Regions regions, RegionsOf(call, true));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferRoiAlign(call));
  KILN_ASSIGN_OR_RETURN(const int64_t samples, call.Int("sample_ratio"));
  KILN_ASSIGN_OR_RETURN(const bool aligned, call.Bool("aligned"));
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("mode"));
  const Aligned a{{regions, in[0], in[1]}, samples, aligned, mode == "avg"};
  const Reader& r = a.reader;
  if (!r.dtype().is_float()) return absl::UnimplementedError("integer images");
  const Extents& shape = *info.As<TensorInfo>()->extents();
  // A bin that begins inside has at most as many places as pixels, and two.
  const auto most = [&](int axis) {
    return samples > 0 ? Int(samples) : Add(r.Rows(axis), Int(2));
  };
  const te::IterVar rh = te::ReduceAxis(Int(0), most(0), "rh");
  const te::IterVar rw = te::ReduceAxis(Int(0), most(1), "rw");
  const Expr nothing =
      a.is_mean ? r.Real(0) : Call(r.dtype(), Intrinsic::kMinValue, {});
  const te::Tensor reduced = r.Result(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr own =
            Between(r, r.Image(i[0]), i[1], SamplePlace(a, i, 0, rh),
                    SamplePlace(a, i, 1, rw));
        const Expr counts =
            And(LT(rh, Samples(a, i[0], 0)), LT(rw, Samples(a, i[0], 1)));
        const Expr value = samples > 0 ? own
                                       : Call(r.dtype(), Intrinsic::kIfThenElse,
                                              {counts, own, nothing});
        return a.is_mean ? te::Sum(value, {rh, rw}) : te::Max(value, {rh, rw});
      },
      "roi_align_reduce");
  if (!a.is_mean) return Lowered(reduced);
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Expr count =
            Max(Mul(Samples(a, i[0], 0), Samples(a, i[0], 1)), Int(1));
        return Quotient(reduced(i), Cast(r.dtype(), count));
      },
      "roi_align"));
}

// --- roi_pool.

struct Bin {
  Expr begin, end;  // pixels, begin <= p < end
};

Bin BinOf(const Reader& r, const Extents& i, int axis) {
  const auto corner = [&](int coordinate) {
    const Expr scaled =
        Mul(r.Corner(i[0], coordinate), r.Real(r.regions.scale));
    return Whole(Intrinsic::kRound, scaled);
  };
  const Expr first = corner(1 - axis), last = corner(3 - axis);
  const Expr rows = Max(Add(Sub(last, first), Int(1)), Int(1));
  const double bins = static_cast<double>(r.regions.size[axis]);
  const Expr extent = Quotient(Cast(r.dtype(), rows), r.Real(bins));
  const auto edge = [&](Intrinsic op, const Expr& bin) {
    const Expr at = Whole(op, Mul(Cast(r.dtype(), bin), extent));
    return Max(Min(Add(at, first), r.Rows(axis)), Int(0));
  };
  return {edge(Intrinsic::kFloor, i[2 + axis]),
          edge(Intrinsic::kCeil, Add(i[2 + axis], Int(1)))};
}

absl::StatusOr<Lowered> LowerRoiPool(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Regions regions, RegionsOf(call, false));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferRoiPool(call));
  const Reader r{regions, in[0], in[1]};
  if (!r.dtype().is_float()) return absl::UnimplementedError("integer images");
  const Extents& shape = *info.As<TensorInfo>()->extents();
  const te::IterVar rh = te::ReduceAxis(Int(0), r.Rows(0), "rh");
  const te::IterVar rw = te::ReduceAxis(Int(0), r.Rows(1), "rw");
  const te::Tensor largest = te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Bin rows = BinOf(r, i, 0), columns = BinOf(r, i, 1);
        const Expr inside =
            And(And(LE(rows.begin, rh), LT(rh, rows.end)),
                And(LE(columns.begin, rw), LT(rw, columns.end)));
        const Expr own = r.Pixel(r.Image(i[0]), i[1], rh, rw);
        return te::Max(
            Call(r.dtype(), Intrinsic::kIfThenElse,
                 {inside, own, Call(r.dtype(), Intrinsic::kMinValue, {})}),
            {rh, rw});
      },
      "roi_pool_max");
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Bin rows = BinOf(r, i, 0), columns = BinOf(r, i, 1);
        const Expr has =
            And(LT(rows.begin, rows.end), LT(columns.begin, columns.end));
        return Select(has, largest(i), r.Real(0));
      },
      "roi_pool"));
}

constexpr OpRow kRows[] = {
    {"vision.roi_align", InferRoiAlign, LowerRoiAlign},
    {"vision.roi_pool", InferRoiPool, LowerRoiPool},
};

}  // namespace

absl::Span<const OpRow> RegionOps() { return kRows; }

absl::Span<const OpRow> VisionOps() {
  static const auto& rows =
      *new std::vector<OpRow>(JoinRows({BoxOps(), RegionOps()}));
  return rows;
}

}  // namespace kiln
