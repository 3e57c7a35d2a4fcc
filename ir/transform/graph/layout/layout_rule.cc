#include "kiln/ir/transform/graph/layout/layout_rule.h"

#include <unordered_map>

namespace kiln {

LayoutRule FindLayoutRule(std::string_view op) {
  static const auto& rules = *[] {
    auto* all = new std::unordered_map<std::string_view, LayoutRule>();
    for (const auto& rows : {ElementRules(), AxisRules(), ReductionRules(),
                             ShapeRules(), WindowRules()}) {
      for (const LayoutRow& row : rows) all->emplace(row.op, row.rule);
    }
    return all;
  }();
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : found->second;
}

LayoutPlan FollowFirst(const LayoutCall& call, AttrMap attrs) {
  LayoutPlan plan;
  plan.args.assign(call.tensors.size(), call.layouts[0]);
  plan.results.assign(call.results.size(), call.layouts[0]);
  plan.attrs = std::move(attrs);
  return plan;
}

std::optional<std::vector<int>> AxesNamed(const LayoutCall& call,
                                          const std::string& attr) {
  const auto axes = call.call.Axes(attr, call.tensors[0]->rank);
  return axes.ok() ? *axes : std::nullopt;
}

std::optional<Attr> MovedAxes(const LayoutCall& call, const std::string& attr,
                              const TensorLayout& layout) {
  const auto axes = AxesNamed(call, attr);
  if (!axes) return std::nullopt;
  std::vector<int> places;
  for (const int axis : *axes) {
    if (layout.HasParts(axis)) return std::nullopt;
    places.push_back(layout.PlaceOf(axis));
  }
  if (call.call.attr(attr).list()) return IntList(places);
  return Attr(Int(places[0]));
}

}  // namespace kiln
