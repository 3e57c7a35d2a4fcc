#include "kiln/search/task/measurer.h"

#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"

namespace kiln {

absl::Status LiveMeasurer::Prepare(const TuneTask& task) {
  std::shared_ptr<const MeasureTask>& data = data_[&task];
  data = task.data;
  if (data) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(data, task.make_data());
  return absl::OkStatus();
}

absl::Status LiveMeasurer::Measure(const TuneTask& task,
                                   absl::Span<const Candidate> candidates,
                                   const MeasureOptions& options,
                                   const OnMeasured& on_measured) {
  std::vector<Function> functions;
  for (const Candidate& candidate : candidates) {
    functions.push_back(candidate.scheduled);
  }
  MeasureAllOptions all;
  all.measure = options;
  all.num_cpus = ThreadPool::NumAvailableCpus();
  return MeasureAll(builder_, runner_, *data_.at(&task), functions, all,
                    on_measured);
}

absl::StatusOr<std::vector<MeasureResult>> LiveMeasurer::MeasureAgain(
    const TuneTask& task, absl::Span<const Again> programs,
    const TurnsOptions& turns, const MeasureOptions& options) {
  std::vector<const BuildResult*> kernels;
  for (const Again& program : programs) kernels.push_back(program.kernel);
  return MeasureInTurns(runner_, *data_.at(&task), kernels, turns, options);
}

}  // namespace kiln
