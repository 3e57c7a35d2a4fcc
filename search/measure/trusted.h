// Where a task's trusted outputs come from: a kernel that is taken to be right
// (the unscheduled function, or one that was verified) runs once.
#ifndef KILN_SEARCH_MEASURE_TRUSTED_H_
#define KILN_SEARCH_MEASURE_TRUSTED_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/contents.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/measure/task_data.h"

namespace kiln {

struct TrustedOptions {
  // Terms that are summed for one element of an output, for the tolerance.
  int64_t reduction_length = 1;
  // No tolerance: kernels of a strict function (ir/tensor/numerics.h) agree.
  bool exact = false;
  int num_threads = 1;
  // Seconds after which the run is given up.
  double deadline_s = 120;
};

// Runs the kernel once in a worker, so that a program which crashes or hangs
// is an error that says so. What each written buffer holds afterwards, in
// order.
absl::StatusOr<std::vector<std::string>> RunTrusted(
    const BuildResult& trusted, const CallContents& contents, Runner& runner,
    const TrustedOptions& options);

// The task that starts from `contents`, whose written buffers must come out as
// `outputs`, one for each, within `tolerances`.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeComparedTask(
    const KernelSignature& signature, const CallContents& contents,
    absl::Span<const std::string> outputs,
    absl::Span<const Tolerance> tolerances, TaskExtras extras = {});

// ToleranceFor each of the outputs.
std::vector<Tolerance> TolerancesOf(const KernelSignature& signature,
                                    absl::Span<const std::string> outputs,
                                    int64_t reduction_length);

// The task that starts from `contents`, and whose written buffers must come out
// as the trusted kernel leaves them, elements that it does not write included.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeTrustedTask(
    const BuildResult& trusted, const CallContents& contents, Runner& runner,
    const TrustedOptions& options);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_TRUSTED_H_
