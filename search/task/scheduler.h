// Several tasks in one run: which one is searched next, and when to stop.
#ifndef KILN_SEARCH_TASK_SCHEDULER_H_
#define KILN_SEARCH_TASK_SCHEDULER_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/database/database.h"
#include "kiln/search/strategy/strategy.h"
#include "kiln/search/task/allocation.h"
#include "kiln/search/task/flight_log.h"
#include "kiln/search/task/measurer.h"
#include "kiln/search/task/objective.h"
#include "kiln/search/task/session.h"
#include "kiln/search/task/task.h"

namespace kiln {

// A task and what finds its candidates. Both outlive the run.
struct ScheduledTask {
  const TuneTask* task = nullptr;
  Strategy* strategy = nullptr;
};

struct TuneAllOptions {
  SessionOptions session;  // of each task
  // Of all tasks together, earlier runs included.
  int64_t trials = std::numeric_limits<int64_t>::max();
  double max_seconds = std::numeric_limits<double>::infinity();
  // In place of `max_seconds`, where it is set: whether time is up.
  std::function<bool()> time_up;
  // Null: gradient, weighted sum.
  const Allocation* allocation = nullptr;
  const Objective* objective = nullptr;
  // Told when a task gets a batch, before it starts.
  std::function<void(const std::vector<TuneState>&, int picked)> picked;
};

// Runs until each task is finished, `trials` programs have a record, time
// is up, or the session's `stop` says so. A task that cannot be measured at all
// is given up with a reason in its state; the others go on. A time limit leaves
// time for the last comparison among the best. `flight` may be null.
absl::StatusOr<std::vector<TuneState>> TuneAll(
    absl::Span<const ScheduledTask> tasks, const TuneAllOptions& options,
    Database* database, Measurer* measurer, FlightSink* flight);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_SCHEDULER_H_
