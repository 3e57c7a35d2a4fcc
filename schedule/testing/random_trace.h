// Random schedules, for differential tests. The same function and seed give the
// same schedule.
#ifndef KILN_SCHEDULE_TESTING_RANDOM_TRACE_H_
#define KILN_SCHEDULE_TESTING_RANDOM_TRACE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {

// How often a primitive was accepted and refused.
struct StepCount {
  int64_t accepted = 0, refused = 0;
};
using StepCounts = std::map<std::string, StepCount, std::less<>>;

// Adds `from` to `to`.
void Merge(const StepCounts& from, StepCounts* to);
// A line for each primitive.
std::string ToTable(const StepCounts& counts);

struct RandomTraceOptions {
  int max_steps = 16;       // attempts
  int bind_percent = 3;     // of schedules that may bind loops to threads
  int64_t max_unroll = 16;  // iterations of a loop that is to be unrolled
};

// Draws steps from the whole table of instructions, most of them sensible and
// some not, on the function `f`; keeps those that are not refused. Each row of
// the table has its place in the draw. `counts` grows by what happened. An
// error when a refusal is none: a status that is neither InvalidArgument,
// FailedPrecondition nor NotFound, or that has no message.
absl::StatusOr<Schedule> RandomSchedule(const Function& f, uint64_t seed,
                                        StepCounts* counts,
                                        RandomTraceOptions options = {});

}  // namespace kiln

#endif  // KILN_SCHEDULE_TESTING_RANDOM_TRACE_H_
