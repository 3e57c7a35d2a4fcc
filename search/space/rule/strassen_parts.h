// Blocks around a product of parts, marked as the primitive `strassen` does
// (kStrassenParts of ir/tensor/marks.h): those that make the parts of its
// operands, and the one that joins its results. Both have iterators that
// conditions name (AxisInfo::chooses), which are unrolled around the lanes, so
// that what is read is read once for all of them.
#ifndef KILN_SEARCH_SPACE_RULE_STRASSEN_PARTS_H_
#define KILN_SEARCH_SPACE_RULE_STRASSEN_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"

namespace kiln {

// The marked block that makes this operand and nothing else, if it chooses what
// to make of what it reads.
std::optional<std::string> MakerOf(const Function& f, const BlockInfo& info,
                                   const ReadInfo& operand);

// Whether other blocks read the operand's tensor too: a copy for all of them
// would be of this one's form, and theirs a copy of that copy.
bool IsShared(const Function& f, const BlockInfo& info,
              const ReadInfo& operand);

// The marked block that joins what the block `info` writes, all parts at a
// time.
struct Joining {
  BlockInfo block;
  std::vector<int> parts;  // axes of `info` over them
};
std::optional<Joining> JoiningOf(const Function& f, const BlockInfo& info);

// Orders the innermost loops of `block`, one for each of the axes: lanes inside
// choices inside `rows` of the last other axis. Drops the block's mark. Gives
// the loops outside.
absl::StatusOr<std::vector<Rv>> OrderChoices(Schedule* sch, Rv block,
                                             const std::vector<AxisInfo>& axes,
                                             int64_t rows, int64_t lanes);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_STRASSEN_PARTS_H_
