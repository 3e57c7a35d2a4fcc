// Building and measuring many candidates, and deciding among the best ones.
#ifndef KILN_SEARCH_MEASURE_MEASURE_ALL_H_
#define KILN_SEARCH_MEASURE_MEASURE_ALL_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/runner.h"

namespace kiln {

// Whether compiling goes on while a kernel is timed.
enum class Overlap {
  kNever,         // Everything is built first.
  kSingleThread,  // Where the kernel leaves at least one CPU to the compiler.
};

struct MeasureAllOptions {
  MeasureOptions measure;
  // CPUs that building and measuring share.
  int num_cpus = 1;
  Overlap overlap = Overlap::kSingleThread;
  // Shortens the deadline to this many times the best latency, and one
  // second at least, as soon as there is one. 0: leaves it alone.
  double deadline_factor = 300;
};

// What one candidate came to. `kernel` is null where it was not built.
struct Measured {
  int64_t index = 0;
  MeasureResult result;
  const BuildResult* kernel = nullptr;
};

// Told of each candidate in their order. False: no further one is measured.
using OnMeasured = std::function<bool(const Measured& measured)>;

// Builds and measures all candidates. Each result narrows what counts as
// hopeless for those that follow it, so results depend on order and times
// alone, not on how building is scheduled. An error of the runner ends it.
absl::Status MeasureAll(Builder& builder, Runner& runner,
                        const MeasureTask& task,
                        absl::Span<const Function> candidates,
                        const MeasureAllOptions& options,
                        const OnMeasured& on_measured);

struct TurnsOptions {
  // A stage ends when so much time was spent on timing, within these bounds of
  // turns for each kernel.
  double stage_seconds = 0.24;
  int min_rounds = 5;
  int max_rounds = 50;
  // Of one turn; a stage is better filled with many short ones.
  double turn_ms = 3;
};

// Measures `kernels` again in turns, so that a change of the machine's pace
// meets all alike. After each stage the slower half retires, by how much longer
// they took in the same rounds, until two are left for the last stage: most
// turns go to those that are hard to tell apart. Every output is compared whole
// in the first round. Results are in the same order: the least time, how many
// times as long as the best it took in the rounds that both had (exactly 1 for
// the best alone, and more for all others), median of the medians, the distance
// between the quartiles of the medians, samples in all; a kernel that fails
// once has failed.
absl::StatusOr<std::vector<MeasureResult>> MeasureInTurns(
    Runner& runner, const MeasureTask& task,
    absl::Span<const BuildResult* const> kernels, const TurnsOptions& turns,
    const MeasureOptions& options);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_MEASURE_ALL_H_
