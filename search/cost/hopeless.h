// What makes a program hopeless. Internal to search/cost.
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

}  // namespace kiln

#endif  // KILN_SEARCH_COST_HOPELESS_H_
