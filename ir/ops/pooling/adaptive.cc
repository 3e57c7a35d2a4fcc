// R.nn.adaptive_avg_pool1d, 2d, 3d: averages over windows that cover an axis
// evenly. Of `extent` elements and `places` windows, window p is
//
//   p * extent // places  to  ceildiv((p + 1) * extent, places)
//
// All have extent / places elements where that is whole; else the sum runs over
// as many as the longest may have, and skips what a shorter one lacks.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/pooling/pooling.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// The extents that are asked for; nullopt: those of the data.
absl::StatusOr<std::optional<std::vector<int64_t>>> OutputSize(
    const OpCall& call, size_t spatial) {
  if (call.IsNone("output_size")) return std::optional<std::vector<int64_t>>();
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> size,
                        call.Ints("output_size", spatial));
  for (const int64_t extent : size) {
    if (extent >= 1 && extent <= INT32_MAX) continue;
    return call.Error(
        absl::StrCat("`output_size` has ", extent, "; an extent is positive"));
  }
  return std::optional<std::vector<int64_t>>(std::move(size));
}

// Layouts of the same dimensions keep a shape that nothing else is known of.
bool KeepsShape(const PoolLayouts& layouts) {
  if (layouts.data.rank() != layouts.out.rank()) return false;
  for (int d = 0; d < layouts.data.rank(); ++d) {
    const Layout::Dim &a = layouts.data.dims()[d], &b = layouts.out.dims()[d];
    if (a.axis != b.axis || a.factor != b.factor) return false;
  }
  return true;
}

template <size_t spatial>
absl::StatusOr<StructInfo> InferAdaptive(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const PoolLayouts layouts,
                        PoolLayoutsOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const auto size, OutputSize(call, spatial));
  KILN_ASSIGN_OR_RETURN(std::optional<Extents> axes,
                        AxisExtentsOf(call, 0, layouts.data, layouts.names));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* data, call.Tensor(0));
  if (!axes && !size && data->rank != graph::kUnknownRank &&
      KeepsShape(layouts)) {
    return call.info(0);
  }
  for (size_t d = 0; size && axes && d < spatial; ++d) {
    (*axes)[2 + d] = Int((*size)[d]);
  }
  return PooledInfo(call, layouts, axes);
}

// The windows along one axis.
struct Share {
  Expr extent, places;
  bool is_even;
  Expr longest;  // at most so many elements
  Expr First(const Expr& place) const {
    if (is_even) return Mul(place, longest);
    return FloorDiv(Mul(place, extent), places);
  }
  Expr Count(const Expr& place) const {
    if (is_even) return longest;
    const Expr end = Sub(Mul(Add(place, Int(1)), extent), Int(1));
    return Sub(Add(FloorDiv(end, places), Int(1)), First(place));
  }
};

Share ShareOf(const OpCall& call, const Expr& extent, const Expr& places) {
  Analyzer& analyzer = call.analyzer();
  if (analyzer.CanProveEqual(extent, places)) {
    return {extent, places, true, Int(1)};
  }
  const bool is_even = analyzer.CanProveEqual(FloorMod(extent, places), Int(0));
  const Expr whole = analyzer.Simplify(FloorDiv(extent, places));
  return {extent, places, is_even, is_even ? whole : Add(whole, Int(2))};
}

te::Tensor Summed(const te::Tensor& x, const PoolLayouts& layouts,
                  const std::vector<Share>& shares, const Extents& shape) {
  std::vector<te::IterVar> taps;
  for (size_t d = 0; d < shares.size(); ++d) {
    taps.push_back(
        te::ReduceAxis(Int(0), shares[d].longest, absl::StrCat("rv", d)));
  }
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents at = layouts.out.AxisIndices(layouts.names, i);
        Expr inside;
        for (size_t d = 0; d < shares.size(); ++d) {
          const Expr place = at[2 + d];
          at[2 + d] = Add(shares[d].First(place), taps[d]);
          if (shares[d].is_even) continue;
          const Expr counts = LT(taps[d], shares[d].Count(place));
          inside = inside ? And(inside, counts) : counts;
        }
        const Expr own = x(layouts.data.Indices(layouts.names, at));
        const Expr zero = Constant(0, x.dtype());
        return te::Sum(inside ? Call(x.dtype(), Intrinsic::kIfThenElse,
                                     {inside, own, zero})
                              : own,
                       taps);
      },
      "adaptive_pool_sum");
}

template <size_t spatial>
absl::StatusOr<Lowered> LowerAdaptive(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const PoolLayouts layouts,
                        PoolLayoutsOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferAdaptive<spatial>(call));
  const Extents& shape = *info.As<graph::TensorInfo>()->extents();
  const Extents data = layouts.data.AxisExtents(layouts.names, in[0].shape());
  const Extents out = layouts.out.AxisExtents(layouts.names, shape);
  std::vector<Share> shares;
  for (size_t d = 0; d < spatial; ++d) {
    shares.push_back(ShareOf(call, data[2 + d], out[2 + d]));
  }
  const te::Tensor sum = Summed(in[0], layouts, shares, shape);
  return Lowered(te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        const Extents at = layouts.out.AxisIndices(layouts.names, i);
        Expr count = Int(1);
        for (size_t d = 0; d < spatial; ++d) {
          count = Mul(count, shares[d].Count(at[2 + d]));
        }
        return Mean(sum(i), count);
      },
      "adaptive_pool_avg", ScheduledAs("adaptive_pool_avg")));
}

constexpr OpRow kRows[] = {
    {"nn.adaptive_avg_pool1d", InferAdaptive<1>, LowerAdaptive<1>},
    {"nn.adaptive_avg_pool2d", InferAdaptive<2>, LowerAdaptive<2>},
    {"nn.adaptive_avg_pool3d", InferAdaptive<3>, LowerAdaptive<3>},
};

}  // namespace

absl::Span<const OpRow> AdaptivePools() { return kRows; }

}  // namespace kiln
