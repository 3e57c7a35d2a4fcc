#include <algorithm>

#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

// Whether elements are read in another order than they are written in.
bool Reorders(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0) return false;
  return std::any_of(info.reads.begin(), info.reads.end(),
                     [&](const ReadInfo& read) {
                       return read.Uses(column) && read.strides[column] != 1.0;
                     });
}

// Whether reductions read what the block makes, and each element many times.
bool IsReduced(const Schedule& sch, const BlockInfo& info,
               const RuleContext& context) {
  return std::any_of(
      info.consumers.begin(), info.consumers.end(), [&](const auto& name) {
        const auto consumer = DescribeBlock(FunctionOf(sch, context), name);
        return !consumer || consumer->CountReduce() > 0;
      });
}

}  // namespace

std::vector<Schedule> AutoInline(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->is_elementwise || info->is_output) return {};
  if (info->consumers.empty() || info->is_expensive) return {};
  if (Reorders(*info) && IsReduced(sch, *info, context)) return {};
  Schedule inlined = sch;
  const absl::StatusOr<Rv> rv =
      inlined.GetBlock(block, FunctionOf(sch, context).name);
  if (!rv.ok() || !inlined.ComputeInline(*rv).ok()) return {};
  if (info->has_condition) return {inlined, sch};
  return {inlined};
}

}  // namespace kiln
