// Where a task's trusted outputs come from: a kernel that is taken to be right
// (the unscheduled function, or one that was verified) runs on random inputs.
#ifndef KILN_SEARCH_MEASURE_TRUSTED_H_
#define KILN_SEARCH_MEASURE_TRUSTED_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/task_data.h"

namespace kiln {

struct TrustedOptions {
  // Contents of the inputs: floats uniform in [-1, 1), small integers.
  uint64_t seed = 0;
  // Terms that are summed for one element of an output, for the tolerance.
  int64_t reduction_length = 1;
  int num_threads = 1;
};

// Fills every buffer with random contents, runs the kernel once in this
// process, and makes the task whose written buffers must come out the same.
// Written buffers start as all ones for candidates (an element that was never
// written shows), or, with `written_are_inputs`, as the same random contents,
// for kernels that read what they write.
// `scalars` are as the kernel ABI wants them.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeTrustedTask(
    const BuildResult& trusted, absl::Span<const int64_t> scalars,
    const TrustedOptions& options, bool written_are_inputs = false);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_TRUSTED_H_
