// Copies that turn rows into columns.
#ifndef KILN_SEARCH_SPACE_RULE_TRANSPOSES_H_
#define KILN_SEARCH_SPACE_RULE_TRANSPOSES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"

namespace kiln {

// The axis along which the block reads contiguous elements that it writes
// elsewhere, as a transpose does; -1: none.
int TransposedAxis(const BlockInfo& info);

// The block that transposes matrices, the last two dimensions of what it
// writes, for the block `reader` alone.
std::optional<std::string> TransposeBefore(const Function& f,
                                           const std::string& reader);

// Makes squares of the loops of the axes of such a block, which share cache
// lines on both sides, and which code generation transposes in registers: they
// are marked with kTransposedCopy (ir/tensor/marks.h). Gives the loops outside
// of a row of squares.
absl::StatusOr<std::vector<Rv>> TileSquares(Schedule* sch, Rv block,
                                            const BlockInfo& info,
                                            const std::vector<Rv>& loops,
                                            const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_TRANSPOSES_H_
