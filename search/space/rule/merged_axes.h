// Neighbouring axes of a block that become one.
#ifndef KILN_SEARCH_SPACE_RULE_MERGED_AXES_H_
#define KILN_SEARCH_SPACE_RULE_MERGED_AXES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/search/space/rule/block_info.h"

namespace kiln {

// For each axis whether it becomes one with the axis before it. Axes beyond the
// last entry stay; the first entry is false.
using MergedAxes = std::vector<bool>;

std::vector<int64_t> ExtentsOf(const BlockInfo& info);

// Of extents [3, 5, 7], where the last is merged: [i, j, k] -> [i, j * 7 + k].
IndexMap MergeAxes(absl::Span<const int64_t> extents, const MergedAxes& merged);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_MERGED_AXES_H_
