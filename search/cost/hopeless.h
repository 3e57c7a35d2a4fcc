// Programs that are not worth compiling.
#ifndef KILN_SEARCH_COST_HOPELESS_H_
#define KILN_SEARCH_COST_HOPELESS_H_

#include <string>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/search/cost/analytic.h"

namespace kiln {

// What no luck makes up for, in a store that takes most of the time; "" where
// there is nothing. `instructions` are those of the tile of each store.
std::string WhyHopeless(const TimeEstimate& estimate,
                        const std::vector<double>& instructions,
                        const Machine& machine);

// Whether there is no point in compiling the program: its registers spill in
// the innermost loop, its unrolled body is out of proportion, or, where
// `best_seconds` is not 0, the estimate is over `factor` times that. `why`,
// unless nullptr, takes the reason.
bool IsHopeless(const TimeEstimate& estimate, double best_seconds = 0,
                double factor = 8, std::string* why = nullptr);

}  // namespace kiln

#endif  // KILN_SEARCH_COST_HOPELESS_H_
