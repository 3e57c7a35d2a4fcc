#include "kiln/search/space/rule/merged_axes.h"

#include <cstddef>
#include <string>

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

}  // namespace kiln
