// What a tuning run left behind, task by task.
#ifndef KILN_TOOLS_REPORTING_TASK_DATA_H_
#define KILN_TOOLS_REPORTING_TASK_DATA_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/record.h"
#include "kiln/search/task/task_work.h"

namespace kiln::report {

// A function that was tuned for a target, and all its records.
struct TaskData : TaskWork {
  // "gmm:512,512,512" with the suffixes of its form, or the signature; with a
  // number where other programs have the same. Of workloads of unusual shapes
  // the flight log tells it, where there is one.
  std::string name;
  std::string signature;  // "main(X: 1x512x512, ...)"
  Workload workload;
  Module module;
  int function = 0;  // the one that was tuned, in the module
  std::string target;
  int threads = 1;
  std::string machine;     // that it was tuned on last; empty: not known
  double weight = 1;       // calls of it, as the flight log tells
  double peak_gflops = 0;  // of its threads on this machine; 0: not measured
  std::vector<TuningRecord> trials;   // that had a program, by age
  std::vector<TuningRecord> refused;  // that had none

  // The fastest; null where none succeeded.
  const TuningRecord* best() const;
  int64_t failed() const;  // of `trials`
  double best_us() const { return best() ? best()->latency_min_ns * 1e-3 : 0; }
};

// "x86_64-pc-linux-gnu znver4" of a target with all its features and threads.
std::string CpuOf(const std::string& target);

// The database of a work directory of `tune`. kNotFound where there is no such
// folder or no database in it. `flag` is the one that named the folder.
absl::StatusOr<std::unique_ptr<Database>> OpenWorkDir(const std::string& path,
                                                      const std::string& flag);

// Reads it. Other errors are those of the database and of its programs, with
// the path.
absl::StatusOr<std::vector<TaskData>> ReadWorkDir(
    const std::string& path, const std::string& flag = "--work-dir");

// Times of others, for tasks that are named workloads.
struct PeerTime {
  std::string workload;  // "gmm:512,512,512"
  int threads = 1;
  std::string contender;
  double seconds = 0;
};

// Reads what `bench --json` printed. Kiln's own rows are left out. The error
// names the line.
absl::StatusOr<std::vector<PeerTime>> ReadBenchRows(const std::string& path);

}  // namespace kiln::report

#endif  // KILN_TOOLS_REPORTING_TASK_DATA_H_
