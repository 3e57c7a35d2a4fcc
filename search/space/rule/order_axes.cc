// Programs name the axes of a reduction in any order. The other rules take
// those of results in the order of their dimensions, and sums in that in which
// the largest operand goes on:
//
//   for b, a, c, d: C[a, b] += A[a, b, d, c] * B[d, c]
//     →
//   for a, b, d, c: C[a, b] += A[a, b, d, c] * B[d, c]
//
// Then d and c can become one, along which both lie (merge_reductions.cc): 2560
// such sums of 480 take 161 us, and 979 us in the order above.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// How far the operand goes with each step of the axis: axes that it does not
// move with are as if it went farthest.
double StepOf(const ReadInfo& operand, int axis) {
  const auto& step = operand.strides[axis];
  if (!step || *step == 0) return std::numeric_limits<double>::infinity();
  return std::abs(*step);
}

// The axes in their order, outermost first; none where some cannot be told.
std::vector<int> OrderOf(const BlockInfo& info) {
  if (!info.has_init || info.reads.empty()) return {};
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(info.axes.size()); ++i) {
    const AxisInfo& axis = info.axes[i];
    if (axis.scans || (!axis.reduce && axis.write_dim < 0)) return {};
    order.push_back(i);
  }
  const ReadInfo& largest = *absl::c_max_element(
      info.reads, [](const ReadInfo& a, const ReadInfo& b) {
        return a.elements < b.elements;
      });
  absl::c_stable_sort(order, [&](int a, int b) {
    const AxisInfo &x = info.axes[a], &y = info.axes[b];
    if (x.reduce != y.reduce) return y.reduce;
    if (!x.reduce) return x.write_dim < y.write_dim;
    return StepOf(largest, a) > StepOf(largest, b);
  });
  return order;
}

absl::StatusOr<Schedule> Order(Schedule sch, const std::string& name,
                               const std::vector<int>& order,
                               const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(name, FunctionOf(sch, context).name));
  IndexMap map;
  for (size_t i = 0; i < order.size(); ++i) {
    map.inputs.emplace_back("i" + std::to_string(i));
  }
  for (const int axis : order) map.outputs.push_back(map.inputs[axis]);
  KILN_RETURN_IF_ERROR(sch.TransformBlockLayout(block, map));
  return sch;
}

}  // namespace

std::vector<Schedule> OrderAxes(const Schedule& sch, const std::string& block,
                                const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info) return {};
  const std::vector<int> order = OrderOf(*info);
  if (absl::c_is_sorted(order)) return {};
  return OnlyWay(Order(sch, block, order, context), context);
}

}  // namespace kiln
