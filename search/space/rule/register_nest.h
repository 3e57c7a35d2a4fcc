// A sum over an output with a contiguous axis as a nest of loops: a register
// tile inside cache blocks.
#ifndef KILN_SEARCH_SPACE_RULE_REGISTER_NEST_H_
#define KILN_SEARCH_SPACE_RULE_REGISTER_NEST_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rule_context.h"
#include "kiln/search/space/rule/strassen_parts.h"
#include "kiln/search/space/rule/tiling_choice.h"

namespace kiln {

// A schedule with such a nest, where `first_step` is the outermost loop of the
// reduction: the init is to be decomposed there, once loops run in parallel.
struct RegisterNest {
  Schedule schedule;
  Rv block, first_step;
};

// Makes the nest of the loops of the block `info`, one for each of its axes.
// Outside of these are `around` others, which may run in parallel; where
// there are none the outer loops of the nest do. With `joining`, all parts that
// an outer iteration computes are joined there.
absl::StatusOr<RegisterNest> TileInRegisters(
    Schedule sch, const BlockInfo& info, const TileAxes& axes,
    const TilingChoice& choice, const std::optional<Joining>& joining,
    size_t around, const RuleContext& context);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_REGISTER_NEST_H_
