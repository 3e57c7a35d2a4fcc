// Fault injection: candidates replaced by kernels that misbehave, so that what
// a tuner promises about them can be shown.
#ifndef KILN_SEARCH_MEASURE_FAULT_H_
#define KILN_SEARCH_MEASURE_FAULT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/local_runner.h"
#include "kiln/search/measure/runner.h"

namespace kiln {

// X(enumerator, name, the verdict that it ends in). A name is also the end of
// the symbol in fault_kernels.c, where there is one.
#define KILN_FAULT_TABLE(X)                                 \
  X(kSegfault, "segfault", kCrash)                          \
  X(kInfiniteLoop, "infinite_loop", kTimeout)               \
  X(kHugeAllocation, "huge_allocation", kOutOfMemory)       \
  X(kWritePastEnd, "write_past_end", kOutOfBounds)          \
  X(kWrongResult, "wrong_result", kWrongResult)             \
  X(kWorkerKilled, "worker_killed", kWorkerLost)            \
  X(kWriteBeforeStart, "write_before_start", kOutOfBounds)  \
  X(kReadPastEnd, "read_past_end", kOutOfBounds)            \
  X(kWorkspaceUnderrun, "workspace_underrun", kOutOfBounds) \
  X(kEndlessAllocation, "endless_allocation", kOutOfMemory) \
  X(kDivideByZero, "divide_by_zero", kCrash)                \
  X(kStackOverflow, "stack_overflow", kCrash)               \
  X(kParallelSegfault, "parallel_segfault", kCrash)         \
  X(kErrorStatus, "error_status", kRunError)                \
  X(kBrokenObject, "broken_object", kBuildError)

enum class FaultKind : uint8_t {
#define KILN_FAULT_ENUMERATOR(id, name, verdict) id,
  KILN_FAULT_TABLE(KILN_FAULT_ENUMERATOR)
#undef KILN_FAULT_ENUMERATOR
};

#define KILN_FAULT_COUNT(id, name, verdict) +1
inline constexpr int kNumFaultKinds = 0 KILN_FAULT_TABLE(KILN_FAULT_COUNT);
#undef KILN_FAULT_COUNT

std::string_view FaultName(FaultKind kind);
Verdict ExpectedVerdict(FaultKind kind);
std::optional<FaultKind> ParseFault(std::string_view name);

// `good` with its code replaced. Faults in buffers use the first written one.
BuildResult InjectFault(FaultKind kind, const BuildResult& good);

// A runner that replaces every kernel it is given by one with the next kind of
// fault, in the order of the table, where `should_fail(n)` says so of the n-th
// call; kernels that it leaves alone go through. For kWorkerKilled it kills
// the worker while that runs.
class FaultInjectingRunner : public Runner {
 public:
  using ShouldFail = bool (*)(int64_t call);
  explicit FaultInjectingRunner(LocalRunner* runner,
                                ShouldFail should_fail = nullptr)
      : runner_(runner), should_fail_(should_fail) {}

  absl::StatusOr<MeasureResult> Measure(const MeasureTask& task,
                                        const BuildResult& kernel,
                                        const MeasureOptions& options) override;

  // Kernels that only run are left alone.
  absl::StatusOr<RunResult> Run(const MeasureTask& task,
                                const BuildResult& kernel,
                                const MeasureOptions& options) override {
    return runner_->Run(task, kernel, options);
  }

  // Measures with this fault.
  absl::StatusOr<MeasureResult> MeasureFault(FaultKind kind,
                                             const MeasureTask& task,
                                             const BuildResult& kernel,
                                             const MeasureOptions& options);

  int64_t injected() const { return injected_; }

 private:
  LocalRunner* runner_;
  ShouldFail should_fail_;
  int64_t calls_ = 0;
  int64_t injected_ = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_FAULT_H_
