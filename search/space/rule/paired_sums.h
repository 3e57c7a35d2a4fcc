// Sums of the even steps of a reduction and of the odd ones, side by side: on
// machines that load no number into all lanes of a vector, but two numbers into
// all pairs of lanes.
#ifndef KILN_SEARCH_SPACE_RULE_PAIRED_SUMS_H_
#define KILN_SEARCH_SPACE_RULE_PAIRED_SUMS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {

// A schedule where the block `info` computes both sums, its loops in the order
// of its axes, and its only consumer adds them up. Of `axes`, `pair` is set.
struct PairedSums {
  Schedule schedule;
  BlockInfo info;
  TileAxes axes;
};

// Splits the sums of the block `info`; nullopt where the machine's vectors gain
// nothing by that, or where the steps are no pairs of neighbours in memory.
std::optional<PairedSums> PairSums(const Schedule& sch, const BlockInfo& info,
                                   const TileAxes& axes,
                                   const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_PAIRED_SUMS_H_
