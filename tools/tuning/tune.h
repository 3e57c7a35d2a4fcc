// What `tune` does, apart from its flags.
#ifndef KILN_TOOLS_TUNING_TUNE_H_
#define KILN_TOOLS_TUNING_TUNE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/search/task/tuner.h"
#include "kiln/tools/tuning/guide.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {

struct TuneRequest {
  std::string name;  // of the task, for people and for files
  Module module;
  std::string function;  // which one to tune
  // A schedule function; none: that of the rules alone.
  std::optional<python::Source> space;
  bool use_rules = false;  // the rules' schedules beside those of `space`
  Target target;           // its num_cores is how many threads a kernel uses
  int64_t trials = 64;
  GuideOptions guide;
  double max_seconds = std::numeric_limits<double>::infinity();
  std::string work_dir;
  std::function<bool()> stop;
  // Replaces every second kernel by one that misbehaves, to show what happens.
  bool inject_faults = false;
};

// A finished run, its best program and where everything lies.
struct TuneOutcome {
  TuneState state;
  std::string database;
  std::string task_dir;  // empty best program: nothing was written there
  std::string best_trace;
  Function best;  // without a body when no trial succeeded
};

// Tunes, shows progress in `view`, and writes the best module (best.py and
// best.pb), its trace (trace.py), its object code (kernel.o), what the cost
// model learned (model) and a log.
absl::StatusOr<TuneOutcome> RunTune(const TuneRequest& request, TuneView* view);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_TUNE_H_
