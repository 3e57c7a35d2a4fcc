// What `tune` does, apart from its flags.
#ifndef KILN_TOOLS_TUNING_TUNE_H_
#define KILN_TOOLS_TUNING_TUNE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/task/task.h"
#include "kiln/tools/tuning/guide.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {

struct TuneAllRequest {
  std::vector<TuneJob> jobs;
  Target target;  // its num_cores is how many threads a kernel uses
  // Earlier runs included. With 0 nothing is measured: a task without earlier
  // trials gets the schedule that the analytic model takes for the fastest.
  int64_t trials_per_task = 64;
  // Of all tasks together, earlier runs included.
  int64_t trials = std::numeric_limits<int64_t>::max();
  int64_t early_stopping = 0;  // see SessionOptions
  std::string allocation = "gradient";
  std::string objective = "weighted-sum";
  GuideOptions guide;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string work_dir;
  // The prepared model that calls the functions; outlives the run; null: none.
  // At the end the fastest schedules are compared in it (rank_in_model.h),
  // within the last fifth of max_seconds, a minute at most.
  const Module* model = nullptr;
  // A file of JSON lines, whose records count as earlier trials, and which gets
  // those of this run; empty: none.
  std::string records;
  // The arguments of the function, as `run` takes them (tools/support/input.h);
  // none: random ones. For a single job.
  std::vector<std::string> inputs;
  std::function<bool()> stop;
  // Replaces every second kernel by one that misbehaves, to show what happens.
  bool inject_faults = false;
};

// A task after the run, its best program and where everything lies.
struct TuneOutcome {
  TuneState state;
  std::string database;
  std::string task_dir;  // empty best program: nothing was written there
  std::string best_trace;
  Function best;  // without a body when no trial succeeded
};

// Tunes and shows progress in `view`. Writes the flight log, and for each task
// the best module (best.py and best.pb), its trace (trace.py), its object code
// (kernel.o), what the cost model learned (model) and a log. One outcome for
// each job, in order. The error of a single task that cannot be measured is
// returned; of several, it is in the task's state.
absl::StatusOr<std::vector<TuneOutcome>> RunTuneAll(
    const TuneAllRequest& request, TuneView* view);

// A run with one job.
struct TuneRequest {
  std::string name;  // of the task, for people and for files
  Module module;
  std::string function;  // which one to tune
  // A schedule function; none: that of the rules alone.
  std::optional<python::Source> space;
  bool use_rules = false;  // the rules' schedules beside those of `space`
  Target target;
  int64_t trials = 64;
  GuideOptions guide;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string work_dir;
  std::function<bool()> stop;
  bool inject_faults = false;
};

absl::StatusOr<TuneOutcome> RunTune(const TuneRequest& request, TuneView* view);

// The module with what was tuned in place of its functions, jobs merged into
// others included.
Module Assemble(const Module& module, const std::vector<TuneJob>& jobs,
                const std::vector<TuneOutcome>& outcomes);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_TUNE_H_
