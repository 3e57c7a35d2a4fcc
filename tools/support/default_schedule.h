// Default schedules for tools: those of search/task for a target of codegen.
#ifndef KILN_TOOLS_SUPPORT_DEFAULT_SCHEDULE_H_
#define KILN_TOOLS_SUPPORT_DEFAULT_SCHEDULE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/task/default_schedule.h"

namespace kiln {

// The stored constants of this machine (measured and stored where there are
// none) as code for the target sees them; of a target of another architecture
// what is known without measuring.
Machine MeasuredMachine(const Target& target);

// How default schedules are chosen for the machine: the best few that are
// estimated are lowered, and the conditions that remain are counted.
DefaultScheduleOptions DefaultOptions(const Machine& machine, int threads);

// The default schedule of the function called `function`, estimated for
// MeasuredMachine and the target's number of cores.
absl::StatusOr<DefaultSchedule> DefaultScheduleFor(const Module& module,
                                                   const std::string& function,
                                                   const Target& target);

// The same for a machine that is known.
absl::StatusOr<DefaultSchedule> DefaultScheduleFor(const Module& module,
                                                   const std::string& function,
                                                   const Target& target,
                                                   const Machine& machine);

// What the value of a flag --schedule says beside that of --trace: whether the
// default schedule is wanted. Refuses other names than "" and "default", and
// both flags together.
absl::StatusOr<bool> WantsDefaultSchedule(const std::string& schedule,
                                          const std::string& trace);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_DEFAULT_SCHEDULE_H_
