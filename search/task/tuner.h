// One task: draw programs of a space, build, check and time them, keep every
// trial, and know the best.
#ifndef KILN_SEARCH_TASK_TUNER_H_
#define KILN_SEARCH_TASK_TUNER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/measure_all.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/measure/task_data.h"
#include "kiln/search/space/space.h"
#include "kiln/search/strategy/strategy.h"

namespace kiln {

// What is tuned.
struct TuneTask {
  std::string name;        // for people
  Workload workload;       // for the database
  std::string target;      // fingerprint, with the number of threads
  double flop = 0;         // of one call; 0: not known
  int num_threads = 1;     // that a kernel uses
  double peak_gflops = 0;  // of these threads; 0: not measured
  std::shared_ptr<const MeasureTask> data;
  const Space* space = nullptr;
};

// How far a task has come.
struct TuneState {
  std::string task;
  double flop = 0;
  double peak_gflops = 0;
  int64_t trials_done = 0;     // programs with a record, earlier runs included
  int64_t trials_resumed = 0;  // of these, found in the database
  int64_t trials_total = 0;
  VerdictCounts counts = {};
  std::optional<TuningRecord> best;
  double seconds = 0;        // since the start
  double check_seconds = 0;  // of these, spent on comparing outputs
  bool exhausted = false;    // the space has no more programs
  bool interrupted = false;

  double best_us() const { return best ? best->latency_min_ns * 1e-3 : 0; }
  double best_gflops() const { return best ? flop / best->latency_min_ns : 0; }
  double peak_share() const {
    return peak_gflops > 0 ? best_gflops() / peak_gflops : 0;
  }
  int64_t failed() const;
};

struct TuneOptions {
  int64_t trials = 64;
  uint64_t seed = 0;  // recorded with each trial
  // Outlives the run, and is used for one run of one task. Null: random draws.
  Strategy* strategy = nullptr;
  double max_seconds = std::numeric_limits<double>::infinity();
  int batch = 16;
  // The best few are timed again, in turns, before one is named.
  int finalists = 16;
  TurnsOptions turns;
  MeasureOptions measure;
  // Asked between trials; true ends the search with what was found.
  std::function<bool()> stop;
  // Told after each trial. The record is null between trials.
  std::function<void(const TuneState&, const TuningRecord*)> progress;
};

class Tuner {
 public:
  // All but the task outlive the tuner.
  Tuner(Builder* builder, Runner* runner, Database* database, ThreadPool* pool)
      : builder_(*builder),
        runner_(*runner),
        database_(*database),
        pool_(*pool) {}

  // Runs until `trials` programs of the workload have a record, the space ends,
  // time is up or `stop` says so. A program that the database knows for this
  // workload and target is never measured again. The error is one of the
  // database or of the machine: what a candidate does is in its record.
  absl::StatusOr<TuneState> Run(const TuneTask& task,
                                const TuneOptions& options);

 private:
  Builder& builder_;
  Runner& runner_;
  Database& database_;
  ThreadPool& pool_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_TUNER_H_
