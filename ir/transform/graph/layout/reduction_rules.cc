// Reductions: the axes are looked up where they stand now, with all of their
// parts, and what is left of the layout is that of the result.
//
//   R.sum(x, axis=[1, 2])     x NCHW4c   axis=[1, 2, 4], and the result is
//   plain
#include <algorithm>

#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {
namespace {

bool KeepsDims(const LayoutCall& call) {
  const auto keeps = call.call.Bool("keepdims");
  return !keeps.ok() || *keeps;
}

LayoutPlan Reduced(const LayoutCall& call, const std::vector<int>& axes,
                   Attr axis) {
  const TensorLayout& layout = call.layouts[0];
  AttrMap attrs = call.attrs();
  attrs["axis"] = std::move(axis);
  LayoutPlan plan = FollowFirst(call, std::move(attrs));
  if (!KeepsDims(call)) plan.results = {layout.Without(axes)};
  return plan;
}

std::optional<LayoutPlan> Reduce(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  const auto axes = AxesNamed(call, "axis");
  if (!axes) {
    const bool loses_parts = KeepsDims(call) && layout.HasParts();
    if (loses_parts) return std::nullopt;
    LayoutPlan plan = FollowFirst(call, call.attrs());
    plan.results = {TensorLayout::Plain(call.results[0]->rank)};
    return plan;
  }
  std::vector<int> places;
  for (const int axis : *axes) {
    if (KeepsDims(call) && layout.HasParts(axis)) return std::nullopt;
    for (const int place : layout.PlacesOf(axis)) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  const bool is_one = places.size() == 1 && !call.call.attr("axis").list();
  return Reduced(call, *axes, is_one ? Attr(Int(places[0])) : IntList(places));
}

// Of what they find they give the place along the one axis; without an axis it
// would be the place among all elements.
std::optional<LayoutPlan> Search(const LayoutCall& call) {
  const auto axes = AxesNamed(call, "axis");
  const auto moved = MovedAxes(call, "axis", call.layouts[0]);
  if (!axes || !moved) return std::nullopt;
  return Reduced(call, *axes, *moved);
}

constexpr LayoutRow kRows[] = {
    {"argmax", Search}, {"argmin", Search}, {"max", Reduce},
    {"mean", Reduce},   {"min", Reduce},    {"prod", Reduce},
    {"std", Reduce},    {"sum", Reduce},    {"variance", Reduce},
};

}  // namespace

absl::Span<const LayoutRow> ReductionRules() { return kRows; }

}  // namespace kiln
