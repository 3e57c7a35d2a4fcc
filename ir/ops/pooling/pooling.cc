// Pools whose windows slide: R.nn.max_pool1d, avg_pool2d, ...
//
//   pool_max[n, c, y, x] = max over ry, rx of
//                          pad_temp[n, c, y * 2 + ry, x * 2 + rx]
//
// An average divides by the elements that its window has inside of the data, or
// of the data and its padding where `count_include_pad` is set. With
// `ceil_mode` a last window that begins ahead of the end of the data may reach
// over the end of the padding; what it finds there counts for nothing.
#include "kiln/ir/ops/pooling/pooling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// How many places the window has along an axis. Rounded up, the last one counts
// only where it begins in the data or in the padding ahead of it.
Expr Places(const Pool& pool, size_t d, const Expr& extent) {
  const Windows& w = pool.windows;
  const Expr stride = Int(w.strides[d]);
  int64_t more =
      w.before[d] + w.after[d] - (pool.size[d] - 1) * w.dilation[d] - 1;
  if (pool.rounds_up) more += w.strides[d] - 1;
  const Expr reach = Add(extent, Int(more));
  const Expr steps = FloorDiv(reach, stride);
  const Expr all = Add(steps, Int(1));
  // The last one begins at reach - reach % stride.
  if (!pool.rounds_up || more < w.before[d]) return all;
  if (more - w.before[d] >= w.strides[d] - 1) return steps;
  const Expr rest = FloorMod(reach, stride);
  const int64_t behind = more - w.before[d];
  const Expr begins_behind =
      behind == 0 ? EQ(rest, Int(0)) : LE(rest, Int(behind));
  return IfThenElse(begins_behind, steps, all);
}

template <size_t spatial>
absl::StatusOr<StructInfo> InferPool(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> data,
      AxisExtentsOf(call, 0, pool.layouts.data, pool.layouts.names));
  if (!data) return PooledInfo(call, pool.layouts, std::nullopt);
  return PooledInfo(call, pool.layouts, PooledAxes(pool, *data));
}

// --- Lowering.

using Combine = te::Value (*)(Expr, std::vector<te::IterVar>);

te::Tensor Slide(const Pool& pool, const te::Tensor& data, const Extents& shape,
                 Combine combine, const std::string& name,
                 te::ComputeOptions options = {}) {
  std::vector<te::IterVar> taps;
  for (size_t d = 0; d < pool.size.size(); ++d) {
    taps.push_back(te::ReduceAxis(0, pool.size[d], absl::StrCat("rv", d)));
  }
  const PoolLayouts& layouts = pool.layouts;
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents at = layouts.out.AxisIndices(layouts.names, i);
        for (size_t d = 0; d < pool.size.size(); ++d) {
          at[2 + d] = Add(Mul(at[2 + d], Int(pool.windows.strides[d])),
                          Mul(taps[d], Int(pool.windows.dilation[d])));
        }
        return combine(data(layouts.data.Indices(layouts.names, at)), taps);
      },
      name, std::move(options));
}

Expr Lowest(DType dtype) { return Call(dtype, Intrinsic::kMinValue, {}); }

template <size_t spatial>
absl::StatusOr<Lowered> LowerMaxPool(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferPool<spatial>(call));
  const te::Tensor data = PadForPool(pool, in[0], Lowest(in[0].dtype()));
  return Lowered(Slide(pool, data, *info.As<graph::TensorInfo>()->extents(),
                       te::Max, "pool_max", ScheduledAs("pool_max")));
}

// How many elements of an axis the window at `place` has that count.
Expr Counted(const Pool& pool, size_t d, const Expr& place,
             const Expr& extent) {
  const Windows& w = pool.windows;
  const Expr dilation = Int(w.dilation[d]);
  const Expr first = Sub(Mul(place, Int(w.strides[d])), Int(w.before[d]));
  const int64_t behind = pool.counts_padding ? w.after[d] : 0;
  // The first and the last tap that count.
  const Expr end = Sub(Add(extent, Int(behind - 1)), first);
  const Expr last = Min(FloorDiv(end, dilation), Int(pool.size[d] - 1));
  Expr skipped = Int(0);
  if (!pool.counts_padding) {
    const Expr short_by = Sub(Int(w.dilation[d] - 1), first);
    skipped = Max(FloorDiv(short_by, dilation), Int(0));
  }
  return Max(Sub(Add(last, Int(1)), skipped), Int(0));
}

template <size_t spatial>
absl::StatusOr<Lowered> LowerAveragePool(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferPool<spatial>(call));
  const Extents& shape = *info.As<graph::TensorInfo>()->extents();
  const PoolLayouts& layouts = pool.layouts;
  const Extents axes = layouts.data.AxisExtents(layouts.names, in[0].shape());
  const te::Tensor data = PadForPool(pool, in[0], Constant(0, in[0].dtype()));
  const te::Tensor sum = Slide(pool, data, shape, te::Sum, "pool_sum");
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Extents at = layouts.out.AxisIndices(layouts.names, i);
        return Mean(sum(i), CountedElements(pool, at, axes));
      },
      "pool_avg", ScheduledAs("pool_avg")));
}

constexpr OpRow kRows[] = {
    {"nn.avg_pool1d", InferPool<1>, LowerAveragePool<1>},
    {"nn.avg_pool2d", InferPool<2>, LowerAveragePool<2>},
    {"nn.avg_pool3d", InferPool<3>, LowerAveragePool<3>},
    {"nn.max_pool1d", InferPool<1>, LowerMaxPool<1>},
    {"nn.max_pool2d", InferPool<2>, LowerMaxPool<2>},
    {"nn.max_pool3d", InferPool<3>, LowerMaxPool<3>},
};

}  // namespace

absl::StatusOr<Pool> PoolOf(const OpCall& call, size_t spatial) {
  KILN_ASSIGN_OR_RETURN(const PoolLayouts layouts,
                        PoolLayoutsOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const Windows windows, WindowsOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> size,
                        call.Ints("pool_size", spatial));
  for (const int64_t taps : size) {
    if (taps >= 1 && taps <= INT32_MAX) continue;
    return call.Error(absl::StrCat("`pool_size` has ", taps,
                                   "; a window has at least one element"));
  }
  KILN_ASSIGN_OR_RETURN(const bool rounds_up, call.Bool("ceil_mode"));
  KILN_ASSIGN_OR_RETURN(const bool counts, call.Bool("count_include_pad"));
  return Pool{layouts, windows, size, rounds_up, counts};
}

Extents PooledAxes(const Pool& pool, const Extents& data) {
  Extents axes = {data[0], data[1]};
  for (size_t d = 0; d < pool.size.size(); ++d) {
    axes.push_back(Places(pool, d, data[2 + d]));
  }
  return axes;
}

te::Tensor PadForPool(const Pool& pool, const te::Tensor& x,
                      const Expr& value) {
  const size_t spatial = pool.size.size();
  Extents more;
  if (pool.rounds_up) {
    for (size_t d = 0; d < spatial; ++d) {
      more.push_back(Int(pool.windows.strides[d] - 1));
    }
  }
  const bool slides_over = std::any_of(
      more.begin(), more.end(), [](const Expr& e) { return !IsZero(e); });
  if (!slides_over) more.clear();
  if (!slides_over && !pool.windows.has_padding()) return x;
  return PadWindows(x, pool.layouts.data, pool.layouts.names, pool.windows,
                    value, more);
}

Expr CountedElements(const Pool& pool, const Extents& places,
                     const Extents& data) {
  Expr count = Int(1);
  for (size_t d = 0; d < pool.size.size(); ++d) {
    count = Mul(count, Counted(pool, d, places[2 + d], data[2 + d]));
  }
  return Max(count, Int(1));
}

absl::StatusOr<PoolLayouts> PoolLayoutsOf(const OpCall& call, size_t spatial) {
  const std::string names = AxesOf("NC", spatial);
  KILN_ASSIGN_OR_RETURN(const Layout data, LayoutOf(call, "layout", names));
  KILN_ASSIGN_OR_RETURN(const Layout out,
                        LayoutOr(call, "out_layout", names, data));
  return PoolLayouts{data, out, names};
}

absl::StatusOr<StructInfo> PooledInfo(const OpCall& call,
                                      const PoolLayouts& layouts,
                                      const std::optional<Extents>& axes) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* data, call.Tensor(0));
  if (!axes) {
    return graph::TensorOfRank(layouts.out.rank(), data->dtype, data->device);
  }
  KILN_ASSIGN_OR_RETURN(
      Extents shape,
      SimplifiedExtents(call, layouts.out.Extents(layouts.names, *axes)));
  return graph::Tensor(std::move(shape), data->dtype, data->device);
}

te::ComputeOptions ScheduledAs(const std::string& kind) {
  te::ComputeOptions options;
  options.annotations["schedule_rule"] = Attr("meta_schedule." + kind);
  return options;
}

Expr Mean(const Expr& sum, const Expr& count) {
  const bool is_float = sum.dtype().is_float();
  return Binary(is_float ? ExprKind::kDiv : ExprKind::kTruncDiv, sum,
                Cast(sum.dtype(), count));
}

absl::Span<const OpRow> PoolingOps() {
  static const auto& rows = *new std::vector<OpRow>(
      JoinRows({SlidingPools(), AdaptivePools(), PoolGradients()}));
  return rows;
}

absl::Span<const OpRow> SlidingPools() { return kRows; }

}  // namespace kiln
