#include "kiln/search/task/measurer.h"

#include <utility>

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
  std::vector<MeasureResult> results(programs.size());
  std::vector<const BuildResult*> kernels;
  std::vector<size_t> places;
  for (size_t i = 0; i < programs.size(); ++i) {
    const absl::Status built = BuildAgain(programs[i]);
    if (built.ok()) {
      kernels.push_back(programs[i].kernel);
      places.push_back(i);
    } else {
      results[i].verdict = Verdict::kBuildError;
      results[i].reason = std::string(built.message());
    }
  }
  KILN_ASSIGN_OR_RETURN(
      std::vector<MeasureResult> measured,
      MeasureInTurns(runner_, *data_.at(&task), kernels, turns, options));
  for (size_t i = 0; i < places.size(); ++i) {
    results[places[i]] = std::move(measured[i]);
  }
  return results;
}

absl::Status LiveMeasurer::BuildAgain(const Again& program) {
  if (!program.to_build) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(*program.kernel, builder_.Build(*program.to_build));
  return absl::OkStatus();
}

}  // namespace kiln
