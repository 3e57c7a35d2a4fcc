// Runner: checks and times one kernel, whatever that kernel does.
#ifndef KILN_SEARCH_MEASURE_RUNNER_H_
#define KILN_SEARCH_MEASURE_RUNNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/task_data.h"

namespace kiln {

struct MeasureOptions {
  // Threads that the kernel's parallel loops use.
  int num_threads = 1;
  // Compare the outputs with the task's trusted ones before timing, at most
  // this many elements of each, taken in runs spread evenly (0: all).
  bool check = true;
  int64_t check_elements = 0;
  // Call it between guard zones before it is timed. False: it has passed there.
  bool guarded = true;
  // The best latency known so far, 0 for none. A kernel whose first sample is
  // `hopeless_factor` times slower is not sampled again.
  double best_ns = 0;
  double hopeless_factor = 2;
  // One that is still this much slower after samples of `beaten_ms` together is
  // not sampled further: it will not be the best.
  double beaten_factor = 1.2;
  double beaten_ms = 5;
  // Samples are taken until `budget_ms` is used up, within these bounds.
  double budget_ms = 20;
  int min_samples = 3;
  int max_samples = 20;
  // Empty the caches before each sample.
  bool flush_cache = false;
  // Seconds for loading, checking and timing together, after
  // which the kernel is stopped. 0: the runner's own.
  double deadline_s = 0;
};

struct MeasureResult {
  Verdict verdict = Verdict::kOk;
  // Why, where the verdict is not ok.
  std::string reason;
  // Nanoseconds for one call; 0 where it was not timed.
  double min_ns = 0;
  double median_ns = 0;
  // Distance between the quartiles of the samples.
  double spread_ns = 0;
  int64_t samples = 0;
  // Where it was compared with others in turns: see TuningRecord.
  double paired_ratio = 0;
  // What preparing and comparing buffers took, and the whole measurement.
  double check_seconds = 0;
  double seconds = 0;
};

// What one call came to.
struct RunResult {
  Verdict verdict = Verdict::kOk;
  std::string reason;  // where the verdict is not ok
  // What each written buffer of the signature holds after the call, in order.
  std::vector<std::string> outputs;
};

class Runner {
 public:
  virtual ~Runner() = default;

  // Calls the kernel once on what the task's buffers hold before a call, away
  // from this process and between guard zones, and compares nothing. Whatever
  // the kernel does is a verdict. Of the options, threads and deadline count.
  // A runner that only measures refuses.
  virtual absl::StatusOr<RunResult> Run(const MeasureTask&, const BuildResult&,
                                        const MeasureOptions&) {
    return absl::UnimplementedError("this runner only measures");
  }

  // Measures one kernel. Whatever the kernel does is a verdict; an error
  // means that nothing can be measured here at all. One call at a time.
  virtual absl::StatusOr<MeasureResult> Measure(
      const MeasureTask& task, const BuildResult& kernel,
      const MeasureOptions& options) = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_RUNNER_H_
