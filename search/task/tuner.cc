#include "kiln/search/task/tuner.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/task/measurer.h"
#include "kiln/search/task/scheduler.h"

namespace kiln {

absl::StatusOr<TuneState> Tuner::Run(const TuneTask& task,
                                     const TuneOptions& options) {
  RandomSearch random(task.space, options.seed, &pool_);
  const ScheduledTask scheduled = {
      &task, options.strategy ? options.strategy : &random};
  TuneAllOptions all;
  all.session = options;
  all.max_seconds = options.max_seconds;
  LiveMeasurer measurer(&builder_, &runner_);
  KILN_ASSIGN_OR_RETURN(
      std::vector<TuneState> states,
      TuneAll({&scheduled, 1}, all, &database_, &measurer, nullptr));
  if (!states[0].gave_up.empty()) {
    return absl::FailedPreconditionError(states[0].gave_up);
  }
  return std::move(states[0]);
}

}  // namespace kiln
