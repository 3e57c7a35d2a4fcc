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

// Of [.., i, j], where j has `inner` values: [.., i * inner + j].
IndexMap MergeLastDims(int dims, int64_t inner);

// The axes of a partial sum, of which an rfactor has made the first: that
// becomes one with `axis` of the `count` others, outside of its elements or
// inside of them. Of d0, d1, d2 with 1 of two others: [d1, d0 * inner + d2], or
// [d1, d2 * inner + d0].
enum class FactorPlace : uint8_t { kOutside, kInside };
IndexMap MergeFactor(int count, int axis, int64_t inner, FactorPlace place);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_MERGED_AXES_H_
