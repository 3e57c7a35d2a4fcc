// What is tuned, and how far it has come.
#ifndef KILN_SEARCH_TASK_TASK_H_
#define KILN_SEARCH_TASK_TASK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/search/database/database.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/task_data.h"
#include "kiln/search/space/space.h"
#include "kiln/search/task/task_work.h"

namespace kiln {

struct TuneTask : TaskWork {
  std::string name;        // for people
  Workload workload;       // for the database
  std::string target;      // fingerprint, with the number of threads
  double weight = 1;       // calls of it, where several tasks are one program
  int num_threads = 1;     // that a kernel uses
  double peak_gflops = 0;  // of these threads; 0: not measured
  std::shared_ptr<const MeasureTask> data;
  // Makes `data` when the task is measured first, where that is null.
  std::function<absl::StatusOr<std::shared_ptr<const MeasureTask>>()> make_data;
  const Space* space = nullptr;
};

struct TuneState : TaskWork {
  std::string task;
  int id = 0;  // among the tasks of a run
  double weight = 1;
  double peak_gflops = 0;
  int64_t trials_done = 0;     // programs with a record, earlier runs included
  int64_t trials_resumed = 0;  // of these, found in the database
  int64_t trials_total = 0;
  int64_t trials_in_vain = 0;  // in a row, since the best became better
  VerdictCounts counts = {};
  std::optional<TuningRecord> best;
  // The code of the best as it was measured; null where an earlier run did.
  std::shared_ptr<const BuildResult> best_kernel;
  double seconds = 0;        // since the start of the run
  double check_seconds = 0;  // of these, on trusted outputs and comparing
  bool exhausted = false;    // the space has no more programs
  bool interrupted = false;
  bool finished = false;  // nothing is left to do for it
  std::string gave_up;    // why it could not be measured at all
  std::string grounds;    // on which outputs were judged; "" where unknown

  double best_us() const { return best ? best->latency_min_ns * 1e-3 : 0; }
  double best_gflops() const { return Gflops(best_us() * 1e3); }
  double best_gbs() const { return Gbs(best_us() * 1e3); }
  double peak_share() const {
    return peak_gflops > 0 ? best_gflops() / peak_gflops : 0;
  }
  int64_t failed() const;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_TASK_H_
