// A good schedule without a single measurement.
#ifndef KILN_SEARCH_TASK_DEFAULT_SCHEDULE_H_
#define KILN_SEARCH_TASK_DEFAULT_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/space/space.h"

namespace kiln {

struct DefaultScheduleOptions {
  int draws = 256;  // points to choose among; fewer of long functions
  uint64_t seed = 0;
  // Seconds of a call that estimates of a scheduled function do not see, such
  // as those of conditions that lowering cannot decide; asked of the best few.
  // Null: none.
  std::function<double(const Function& scheduled)> unseen_seconds;
};

struct DefaultSchedule {
  Function scheduled;
  // Leads from the function to `scheduled`, or to that branch of it which large
  // sizes take; empty where nothing is changed.
  std::string trace;
  double seconds = 0;  // of one call, estimated
};

// The point that the analytic model takes for the fastest among a few drawn
// from the space. Depends on its arguments alone, not on the pool's threads.
// kNotFound where every draw is refused; the message is the last refusal.
absl::StatusOr<DefaultSchedule> BestEstimated(
    const Space& space, const Machine& machine, int threads, ThreadPool* pool,
    const DefaultScheduleOptions& options = {});

// The same for the schedules that rules make of the function `function` of
// the module, for tiles in the machine's registers. A function that no rule
// changes stays as it is. One of symbolic extents gets a schedule that holds at
// all sizes; `seconds` are those at the largest size that was looked at.
absl::StatusOr<DefaultSchedule> ScheduleByDefault(
    const Module& module, int function, const Machine& machine, int threads,
    ThreadPool* pool, const DefaultScheduleOptions& options = {});

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_DEFAULT_SCHEDULE_H_
