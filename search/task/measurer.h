// Where a search gets its times from: a machine, or a log of earlier times.
#ifndef KILN_SEARCH_TASK_MEASURER_H_
#define KILN_SEARCH_TASK_MEASURER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/measure_all.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/space/space.h"
#include "kiln/search/task/task.h"

namespace kiln {

class Measurer {
 public:
  virtual ~Measurer() = default;

  // Has to be called before a task's first measurement. The error is a reason
  // why this task cannot be measured; others may be.
  virtual absl::Status Prepare(const TuneTask& task) = 0;
  // Measures the candidates in order; see MeasureAll. Those that the receiver
  // refuses, and those after them, may have been measured or not.
  virtual absl::Status Measure(const TuneTask& task,
                               absl::Span<const Candidate> candidates,
                               const MeasureOptions& options,
                               const OnMeasured& on_measured) = 0;
  // Measures programs that were measured before again, in turns. `kernel` is
  // what OnMeasured gave; of a program of an earlier run, `to_build` is built
  // into it.
  struct Again {
    std::string program_hash;
    BuildResult* kernel = nullptr;
    const Function* to_build = nullptr;
  };
  virtual absl::StatusOr<std::vector<MeasureResult>> MeasureAgain(
      const TuneTask& task, absl::Span<const Again> programs,
      const TurnsOptions& turns, const MeasureOptions& options) = 0;
  // The task will not be measured any more.
  virtual void Release(const TuneTask& task) = 0;
  virtual std::string CompilerVersion() const = 0;
};

// Builds and runs.
class LiveMeasurer : public Measurer {
 public:
  // Both outlive the measurer.
  LiveMeasurer(Builder* builder, Runner* runner)
      : builder_(*builder), runner_(*runner) {}

  absl::Status Prepare(const TuneTask& task) override;
  absl::Status Measure(const TuneTask& task,
                       absl::Span<const Candidate> candidates,
                       const MeasureOptions& options,
                       const OnMeasured& on_measured) override;
  absl::StatusOr<std::vector<MeasureResult>> MeasureAgain(
      const TuneTask& task, absl::Span<const Again> programs,
      const TurnsOptions& turns, const MeasureOptions& options) override;
  void Release(const TuneTask& task) override { data_.erase(&task); }
  std::string CompilerVersion() const override {
    return builder_.CompilerVersion();
  }

 private:
  absl::Status BuildAgain(const Again& program);

  Builder& builder_;
  Runner& runner_;
  std::map<const TuneTask*, std::shared_ptr<const MeasureTask>> data_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_MEASURER_H_
