// Three channels of output, for one, make no vector; four do.
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/narrow_dots.h"
#include "kiln/search/space/rule/rule.h"

namespace kiln {
namespace {

constexpr int64_t kLeastVector = 4;  // lanes

}  // namespace

std::vector<Schedule> PadColumns(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  const auto info = DescribeBlock(f, block);
  if (!info || !info->has_init || info->ReducesContiguously()) return {};
  const int column = info->ContiguousAxis();
  if (column < 0 || info->CountReduce() == 0) return {};
  const int64_t extent = info->axes[column].extent;
  if (extent < 2 || extent >= kLeastVector) return {};
  ArgList padding;
  for (size_t i = 0; i < info->axes.size(); ++i) {
    padding.push_back(static_cast<int>(i) == column ? Arg(kLeastVector)
                                                    : Arg(1));
  }
  Schedule padded = sch;
  const absl::StatusOr<Rv> rv = padded.GetBlock(block, f.name);
  if (!rv.ok() || !padded.Apply("pad_einsum", {*rv, padding}).ok()) return {};
  if (SuitsDots(*info, context.registers.Floats())) return {padded, sch};
  return {padded};
}

}  // namespace kiln
