// A register tile as a trace has it.
#ifndef KILN_SEARCH_SPACE_RULE_SAMPLED_TILE_H_
#define KILN_SEARCH_SPACE_RULE_SAMPLED_TILE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/register_tiles.h"

namespace kiln {

// The tile's numbers: sampled ones, or constants.
struct SampledTile {
  Arg outer_rows, rows, vectors;
};

// Samples one of `tiles`, which are one at least, by their weights. Where they
// differ in one number that is sampled, and where they differ in several these
// are sampled together, since not all go with each other:
//
//   rows, vectors = sch.sample_tuple(candidates=[[5, 3], [4, 3], [19, 1]], ..)
absl::StatusOr<SampledTile> SampleTile(Schedule* sch,
                                       const std::vector<RegisterTile>& tiles);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_SAMPLED_TILE_H_
