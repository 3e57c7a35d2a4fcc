// Images read under boxes, "regions of interest": (image, x1, y1, x2, y2) in
// pixels of a larger image, of which `spatial_scale` makes pixels of this one.
//
//   R.vision.roi_align(x, rois, pooled_size=(7, 7), spatial_scale=0.25)
//       each region is cut into 7 x 7 bins; a bin is the mean (or the largest)
//       of places spread over it, read between pixels
//   R.vision.roi_pool(x, rois, pooled_size=(7, 7), spatial_scale=0.25)
//       a bin is the largest of the pixels in it, 0 where it has none
//
// How many places a bin has depends on its region, so roi_align is a script
// whose loops run as far as data say; roi_pool runs over the image and skips
// what is not in the bin.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/script.h"
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
};

// Sums or maximizes over the samples of each bin, in at least 32 bits. The
// places of samples, and how many there are, follow from the region.
constexpr char kRoiAlign[] = R"(
$allocation
for i, c, ph, pw in T.grid($count, $channels, $rows, $columns):
    with T.block("roi_align"):
        v_i, v_c, v_ph, v_pw = T.axis.remap("SSSS", [i, c, ph, pw])
        n: T.int64 = T.Cast("int64", T.Cast("$type", rois[v_i, 0]))
        y1: T.$type = T.Cast("$type", rois[v_i, 2]) * $scale - $shift
        x1: T.$type = T.Cast("$type", rois[v_i, 1]) * $scale - $shift
        h: T.$type = T.max(T.Cast("$type", rois[v_i, 4]) * $scale - $shift - y1, $least) / $bin_rows
        w: T.$type = T.max(T.Cast("$type", rois[v_i, 3]) * $scale - $shift - x1, $least) / $bin_columns
        sh: T.int64 = $samples_h
        sw: T.int64 = $samples_w
        $sum[$at] = $nothing
        for rh, rw in T.grid(sh, sw):
            y: T.$type = y1 + T.Cast("$type", v_ph) * h + (T.Cast("$type", rh) + $half) * h / T.Cast("$type", sh)
            x: T.$type = x1 + T.Cast("$type", v_pw) * w + (T.Cast("$type", rw) + $half) * w / T.Cast("$type", sw)
            yc: T.$type = T.max(T.min(y, T.Cast("$type", $height - 1)), $zero)
            xc: T.$type = T.max(T.min(x, T.Cast("$type", $width - 1)), $zero)
            y0: T.int64 = T.Cast("int64", T.floor(yc))
            x0: T.int64 = T.Cast("int64", T.floor(xc))
            dy: T.$type = yc - T.floor(yc)
            dx: T.$type = xc - T.floor(xc)
            y_next: T.int64 = T.min(y0 + 1, $height - 1)
            x_next: T.int64 = T.min(x0 + 1, $width - 1)
            if y >= $outside and x >= $outside and y <= T.Cast("$type", $height) and x <= T.Cast("$type", $width):
                above: T.$type = T.Cast("$type", data[$pixel00]) * ($one - dx) + T.Cast("$type", data[$pixel01]) * dx
                below: T.$type = T.Cast("$type", data[$pixel10]) * ($one - dx) + T.Cast("$type", data[$pixel11]) * dx
                $sum[$at] = $join($sum[$at]$with above * ($one - dy) + below * dy)
            else:
                $sum[$at] = $join($sum[$at]$with $zero)
        out[$at] = T.Cast("$own", $sum[$at] / $divisor))";

std::string Real(DType dtype, double value) {
  return absl::StrCat("T.", dtype.ToString(), "(", Script::RealText(value),
                      ")");
}

// How many samples an axis of a bin has, by its extent.
std::string SamplesOf(int64_t samples, std::string_view extent) {
  if (samples > 0) return absl::StrCat("T.int64(", samples, ")");
  return absl::StrCat("T.max(T.Cast(\"int64\", T.ceil(", std::string(extent),
                      ")), T.int64(0))");
}

std::string PixelText(const Regions& r, const char* y, const char* x) {
  if (r.channels_last) return absl::StrCat("n, ", y, ", ", x, ", v_c");
  return absl::StrCat("n, v_c, ", y, ", ", x);
}

void SetImage(const Regions& r, const Inputs& in, const Extents& shape,
              Script& script) {
  const int spatial = r.channels_last ? 1 : 2;
  script.Param("data", in[0].shape(), in[0].dtype());
  script.Param("rois", in[1].shape(), in[1].dtype());
  script.Param("out", shape, in[0].dtype());
  script.Set("count", in[1].shape()[0])
      .Set("channels", in[0].shape()[r.channels_last ? 3 : 1])
      .Set("height", in[0].shape()[spatial])
      .Set("width", in[0].shape()[spatial + 1])
      .Set("rows", r.size[0])
      .Set("columns", r.size[1])
      .Set("at",
           r.channels_last ? "v_i, v_ph, v_pw, v_c" : "v_i, v_c, v_ph, v_pw")
      .Set("pixel00", PixelText(r, "y0", "x0"))
      .Set("pixel01", PixelText(r, "y0", "x_next"))
      .Set("pixel10", PixelText(r, "y_next", "x0"))
      .Set("pixel11", PixelText(r, "y_next", "x_next"))
      .Set("type", SumType(in[0].dtype()).ToString())
      .Set("own", in[0].dtype().ToString());
}

// Where sums are kept: in the result, or beside one of fewer bits.
void SetSums(const Inputs& in, const Extents& shape, Script& script) {
  const DType own = in[0].dtype(), sum = SumType(own);
  if (own == sum) {
    script.Set("allocation", "").Set("sum", "out");
    return;
  }
  std::vector<std::string> extents;
  for (const Expr& extent : shape) extents.push_back(script.Spelled(extent));
  script
      .Set("allocation", absl::StrCat("total = T.alloc_buffer((",
                                      absl::StrJoin(extents, ", "), "), \"",
                                      sum.ToString(), "\")"))
      .Set("sum", "total");
}

void SetNumbers(const Regions& r, DType dtype, bool aligned, Script& script) {
  const auto real = [&](const char* name, double value) {
    script.Set(name, Real(dtype, value));
  };
  real("scale", r.scale);
  real("shift", aligned ? 0.5 : 0);
  // Regions that are not aligned have at least a pixel.
  real("least", aligned ? -1e30 : 1);
  real("bin_rows", static_cast<double>(r.size[0]));
  real("bin_columns", static_cast<double>(r.size[1]));
  real("half", 0.5);
  real("zero", 0);
  real("one", 1);
  real("outside", -1);
}

absl::StatusOr<Lowered> LowerRoiAlign(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Regions r, RegionsOf(call, true));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferRoiAlign(call));
  KILN_ASSIGN_OR_RETURN(const int64_t samples, call.Int("sample_ratio"));
  KILN_ASSIGN_OR_RETURN(const bool aligned, call.Bool("aligned"));
  KILN_ASSIGN_OR_RETURN(const std::string mode, call.String("mode"));
  const DType dtype = SumType(in[0].dtype());
  if (!dtype.is_float()) return absl::UnimplementedError("integer images");
  const bool is_mean = mode == "avg";
  const Extents& shape = *info.As<TensorInfo>()->extents();
  Script script;
  SetImage(r, in, shape, script);
  SetSums(in, shape, script);
  SetNumbers(r, dtype, aligned, script);
  script.Set("samples_h", SamplesOf(samples, "h"))
      .Set("samples_w", SamplesOf(samples, "w"))
      .Set("nothing",
           is_mean ? Real(dtype, 0)
                   : absl::StrCat("T.min_value(\"", dtype.ToString(), "\")"))
      .Set("join", is_mean ? "" : "T.max")
      .Set("with", is_mean ? " +" : ",")
      .Set("divisor", is_mean ? absl::StrCat("T.Cast(\"", dtype.ToString(),
                                             "\", T.max(sh * sw, T.int64(1)))")
                              : Real(dtype, 1));
  KILN_ASSIGN_OR_RETURN(Function f, script.Read(kRoiAlign));
  return Lowered(std::move(f));
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
