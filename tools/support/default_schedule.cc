#include "kiln/tools/support/default_schedule.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/lower/guards/asked_conditions.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

// To ask a condition and jump: of a store of its own, or of one lane. Of 16
// schedules each of dep:30,30,56,3,1,1 and t2d:10,10,72,40,3,2,1, timed on one
// core, this tells those apart that take two to three times as long.
constexpr double kSecondsOfCondition = 1e-9;

}  // namespace

Machine MeasuredMachine(const Target& target) {
  if (!IsOfThisArchitecture(target)) return target.machine;
  return WithVectors(LoadOrMeasureMachine(DefaultMachinePath()),
                     target.machine.vectors, target.fma);
}

DefaultScheduleOptions DefaultOptions(const Machine& machine, int threads) {
  LowerOptions lowering;
  lowering.machine = machine;
  DefaultScheduleOptions options;
  options.unseen_seconds = [lowering, threads](const Function& scheduled) {
    const absl::StatusOr<Function> lowered = Lower(scheduled, lowering);
    if (!lowered.ok()) return std::numeric_limits<double>::infinity();
    return AskedConditions(*lowered, threads) * kSecondsOfCondition;
  };
  return options;
}

absl::StatusOr<DefaultSchedule> DefaultScheduleFor(const Module& module,
                                                   const std::string& function,
                                                   const Target& target) {
  return DefaultScheduleFor(module, function, target, MeasuredMachine(target));
}

absl::StatusOr<DefaultSchedule> DefaultScheduleFor(const Module& module,
                                                   const std::string& function,
                                                   const Target& target,
                                                   const Machine& machine) {
  const auto found =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&](const Function& f) { return f.name == function; });
  if (found == module.functions.end()) {
    return absl::NotFoundError(
        absl::StrCat("the module has no function \"", function, "\""));
  }
  ThreadPool pool;
  return ScheduleByDefault(
      module, static_cast<int>(found - module.functions.begin()), machine,
      target.num_cores, &pool, DefaultOptions(machine, target.num_cores));
}

absl::StatusOr<bool> WantsDefaultSchedule(const std::string& schedule,
                                          const std::string& trace) {
  if (schedule.empty()) return false;
  if (schedule != "default") {
    return absl::InvalidArgumentError(
        absl::StrCat("--schedule ", schedule,
                     " is unknown; there is default, and --trace reads a "
                     "schedule from a file"));
  }
  if (!trace.empty()) {
    return absl::InvalidArgumentError(
        "--schedule and --trace both say how to schedule; use one");
  }
  return true;
}

}  // namespace kiln
