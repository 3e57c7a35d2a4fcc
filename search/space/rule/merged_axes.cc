#include "kiln/search/space/rule/merged_axes.h"

#include <cstddef>
#include <string>
#include <utility>

#include "kiln/ir/expr/expr.h"

namespace kiln {

std::vector<int64_t> ExtentsOf(const BlockInfo& info) {
  std::vector<int64_t> extents;
  for (const AxisInfo& axis : info.axes) extents.push_back(axis.extent);
  return extents;
}

IndexMap MergeAxes(absl::Span<const int64_t> extents,
                   const MergedAxes& merged) {
  IndexMap map;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Var var("d" + std::to_string(i));
    map.inputs.push_back(var);
    if (i < merged.size() && merged[i]) {
      Expr& number = map.outputs.back();
      number = Add(Mul(number, Int(extents[i])), var);
    } else {
      map.outputs.push_back(var);
    }
  }
  return map;
}

IndexMap MergeLastDims(int dims, int64_t inner) {
  MergedAxes merged(dims, false);
  merged.back() = true;
  std::vector<int64_t> extents(dims, 1);
  extents.back() = inner;
  return MergeAxes(extents, merged);
}

IndexMap MergeFactor(int count, int axis, int64_t inner, FactorPlace place) {
  IndexMap map;
  for (int i = 0; i <= count; ++i) {
    map.inputs.push_back(Var("d" + std::to_string(i)));
  }
  map.outputs.assign(map.inputs.begin() + 1, map.inputs.end());
  Expr outside = map.inputs[0], inside = map.outputs[axis];
  if (place == FactorPlace::kInside) std::swap(outside, inside);
  map.outputs[axis] = Add(Mul(outside, Int(inner)), inside);
  return map;
}

}  // namespace kiln
