#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

// Whether elements are read in another order than they are written in.
bool Reorders(const BlockInfo& info) {
  for (const ReadInfo& read : info.reads) {
    for (size_t axis = 0; axis < info.axes.size(); ++axis) {
      const bool last = info.axes[axis].write_dim == info.write_dims - 1;
      if (last && read.Uses(axis) && read.strides[axis] != 1.0) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Schedule> AutoInline(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->is_elementwise || info->is_output) return {};
  if (info->num_consumers == 0 || info->is_expensive) return {};
  Schedule inlined = sch;
  const absl::StatusOr<Rv> rv =
      inlined.GetBlock(block, FunctionOf(sch, context).name);
  if (!rv.ok() || !inlined.ComputeInline(*rv).ok()) return {};
  if (info->has_condition || Reorders(*info)) return {inlined, sch};
  return {inlined};
}

}  // namespace kiln
