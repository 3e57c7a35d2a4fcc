// What became of a comparison of schedules in a model (rank_in_model.h).
#ifndef KILN_TOOLS_TUNING_RANKED_IN_MODEL_H_
#define KILN_TOOLS_TUNING_RANKED_IN_MODEL_H_

#include <string>

namespace kiln {

struct RankedInModel {
  // Nothing was compared, and why; else empty.
  std::string skipped;
  int functions = 0;  // that were compared, equal ones once
  int changed = 0;    // of these, whose best is another one now
  // Of their calls in one run, by the best schedules of before and of now.
  double before_s = 0, after_s = 0;
};

// A line for people.
std::string ToString(const RankedInModel& ranked);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_RANKED_IN_MODEL_H_
