// How far a tuning run is, in a line.
#ifndef KILN_TOOLS_TUNING_PROGRESS_H_
#define KILN_TOOLS_TUNING_PROGRESS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/search/task/task.h"

namespace kiln {

// When a run ends at the latest.
struct RunLimits {
  // Of all tasks together, earlier runs included.
  int64_t trials = std::numeric_limits<int64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

// "3 crash, 1 timeout": what failed, by cause; empty when nothing did.
std::string FailureList(const TuneState& state);

// "trials 12/64, 1 crash, best 105.2 GFLOP/s (89.5 % of peak), 3 s left", in at
// most `width` columns: what matters less is shortened or left out. The trials
// and the time are of all tasks, everything else of `task`, whose name stands
// first where there are several.
std::string ProgressLine(const std::vector<TuneState>& states, size_t task,
                         const RunLimits& limits, size_t width);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_PROGRESS_H_
