// Ops that move, add and drop axes, and those with something for each axis.
//
//   R.permute_dims(x, axes=[3, 2, 1, 0])   x NHWC    axes=[2, 1, 3, 0], plain
//   R.expand_dims(x, axis=[1])             x NHWC    axis=[1], 0 1 3 4 2
//   R.tile(x, repeats=[1, 2, 1, 1])        x NHWC    repeats=[1, 1, 1, 2]
#include <algorithm>

#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {
namespace {

std::optional<LayoutPlan> PermuteDims(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  if (layout.HasParts() || call.tensors[0]->rank < 0) return std::nullopt;
  auto axes = AxesNamed(call, "axes");
  if (!axes) {
    axes = layout.Plain(call.tensors[0]->rank).Axes();
    std::reverse(axes->begin(), axes->end());
  }
  std::vector<int> places;
  for (const int axis : *axes) places.push_back(layout.PlaceOf(axis));
  AttrMap attrs = call.attrs();
  attrs["axes"] = IntList(places);
  LayoutPlan plan = FollowFirst(call, std::move(attrs));
  plan.results = {TensorLayout::Plain(call.results[0]->rank)};
  return plan;
}

// New axes stand where the program has them; the others around them, in the
// order in which they are.
std::optional<LayoutPlan> ExpandDims(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  const int rank = call.results[0]->rank;
  if (layout.HasParts() || rank < 0) return std::nullopt;
  const auto added = call.call.Axes("axis", rank);
  if (!added.ok() || !*added) return std::nullopt;
  std::vector<int> kept;
  for (int axis = 0; axis < rank; ++axis) {
    const bool is_new =
        std::count((*added)->begin(), (*added)->end(), axis) > 0;
    if (!is_new) kept.push_back(axis);
  }
  std::vector<int> axes;
  size_t next = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const bool is_new = !std::binary_search(kept.begin(), kept.end(), axis);
    axes.push_back(is_new ? axis : kept[layout.dims()[next++].axis]);
  }
  LayoutPlan plan = FollowFirst(call, call.attrs());
  plan.results = {TensorLayout::OfAxes(axes)};
  return plan;
}

// The axes of extent 1, where the program names none.
std::optional<std::vector<int>> Squeezed(const LayoutCall& call) {
  if (!call.call.IsNone("axis")) return AxesNamed(call, "axis");
  const auto* extents = call.tensors[0]->extents();
  if (!extents) return std::nullopt;
  std::vector<int> axes;
  for (size_t axis = 0; axis < extents->size(); ++axis) {
    const int64_t* extent = AsInt((*extents)[axis]);
    if (!extent) return std::nullopt;
    if (*extent == 1) axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

std::optional<LayoutPlan> Squeeze(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  const auto axes = Squeezed(call);
  if (!axes || layout.HasParts()) return std::nullopt;
  std::vector<int> places;
  for (const int axis : *axes) places.push_back(layout.PlaceOf(axis));
  std::sort(places.begin(), places.end());
  AttrMap attrs = call.attrs();
  attrs["axis"] = IntList(places);
  LayoutPlan plan = FollowFirst(call, std::move(attrs));
  plan.results = {layout.Without(*axes)};
  return plan;
}

// `per_axis` numbers for each axis, all `neutral` for one with parts, in the
// order in which the dimensions stand; parts have neutral ones.
std::optional<Attr> MovedNumbers(const TensorLayout& layout,
                                 const std::vector<int64_t>& numbers,
                                 size_t per_axis, int64_t neutral) {
  AttrList moved;
  for (const TensorLayout::Dim& dim : layout.dims()) {
    for (size_t i = 0; i < per_axis; ++i) {
      const int64_t number = numbers[dim.axis * per_axis + i];
      if (layout.HasParts(dim.axis) && number != neutral) return std::nullopt;
      moved.push_back(Int(number));
    }
  }
  return moved;
}

std::optional<LayoutPlan> Tile(const LayoutCall& call) {
  auto repeats = call.call.Ints("repeats");
  const size_t rank = call.tensors[0]->rank < 0 ? 0 : call.tensors[0]->rank;
  if (!repeats.ok() || repeats->size() > rank) return std::nullopt;
  repeats->insert(repeats->begin(), rank - repeats->size(), 1);
  auto moved = MovedNumbers(call.layouts[0], *repeats, 1, 1);
  if (!moved) return std::nullopt;
  AttrMap attrs = call.attrs();
  attrs["repeats"] = *std::move(moved);
  return FollowFirst(call, std::move(attrs));
}

std::optional<LayoutPlan> Pad(const LayoutCall& call) {
  const auto widths = call.call.Ints("pad_width");
  const int rank = call.tensors[0]->rank;
  const bool is_full = widths.ok() && rank >= 0 &&
                       widths->size() == 2 * static_cast<size_t>(rank);
  if (!is_full) return std::nullopt;
  auto moved = MovedNumbers(call.layouts[0], *widths, 2, 0);
  if (!moved) return std::nullopt;
  AttrMap attrs = call.attrs();
  attrs["pad_width"] = *std::move(moved);
  return FollowFirst(call, std::move(attrs));
}

// The axes are an argument, a tuple of numbers.
std::optional<LayoutPlan> StridedSlice(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  const auto* axes = call.call.arg(1).As<graph::TupleNode>();
  if (!axes || call.tensors.size() != 1) return std::nullopt;
  std::vector<graph::Expr> places;
  for (const graph::Expr& field : axes->fields) {
    const auto* number = field.As<graph::PrimNode>();
    const int64_t* given = number ? AsInt(number->value) : nullptr;
    if (!given) return std::nullopt;
    const auto axis = call.call.NormalAxis(*given, call.tensors[0]->rank);
    if (!axis.ok() || layout.HasParts(*axis)) return std::nullopt;
    places.push_back(graph::Number(Int(layout.PlaceOf(*axis))));
  }
  LayoutPlan plan = FollowFirst(call, call.attrs());
  plan.replaced.emplace(1, graph::TupleOf(std::move(places)));
  return plan;
}

constexpr LayoutRow kRows[] = {
    {"expand_dims", ExpandDims},     {"nn.pad", Pad},
    {"permute_dims", PermuteDims},   {"squeeze", Squeeze},
    {"strided_slice", StridedSlice}, {"tile", Tile},
};

}  // namespace

absl::Span<const LayoutRow> ShapeRules() { return kRows; }

}  // namespace kiln
