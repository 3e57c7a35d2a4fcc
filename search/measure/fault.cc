#include "kiln/search/measure/fault.h"

#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kiln/search/measure/fault_kernels.h"

namespace kiln {
namespace {

constexpr int kBuffersWithFaults = 8;
// Long enough for the worker to have entered the kernel.
constexpr std::chrono::milliseconds kKillAfter(30);

// The first written buffer that fault_kernels.c has kernels for.
int FaultyBuffer(const KernelSignature& signature) {
  const int count = static_cast<int>(signature.buffers.size());
  for (int i = 0; i < count && i < kBuffersWithFaults; ++i) {
    if (signature.buffers[i].written) return i;
  }
  return 0;
}

std::string SymbolOf(FaultKind kind, const KernelSignature& signature) {
  const std::string symbol =
      absl::StrCat("kiln_fault_", std::string(FaultName(kind)));
  switch (kind) {
    case FaultKind::kWritePastEnd:
    case FaultKind::kWriteBeforeStart:
    case FaultKind::kReadPastEnd:
      return absl::StrCat(symbol, "_", FaultyBuffer(signature));
    case FaultKind::kWorkerKilled:
      return "kiln_fault_infinite_loop";
    case FaultKind::kSegfault:
    case FaultKind::kInfiniteLoop:
    case FaultKind::kHugeAllocation:
    case FaultKind::kWrongResult:
    case FaultKind::kWorkspaceUnderrun:
    case FaultKind::kEndlessAllocation:
    case FaultKind::kDivideByZero:
    case FaultKind::kStackOverflow:
    case FaultKind::kParallelSegfault:
    case FaultKind::kErrorStatus:
    case FaultKind::kBrokenObject:
      return symbol;
  }
  return symbol;
}

}  // namespace

std::string_view FaultName(FaultKind kind) {
  switch (kind) {
#define KILN_FAULT_CASE(id, name, verdict) \
  case FaultKind::id:                      \
    return name;
    KILN_FAULT_TABLE(KILN_FAULT_CASE)
#undef KILN_FAULT_CASE
  }
  return "";
}

Verdict ExpectedVerdict(FaultKind kind) {
  switch (kind) {
#define KILN_FAULT_CASE(id, name, verdict) \
  case FaultKind::id:                      \
    return Verdict::verdict;
    KILN_FAULT_TABLE(KILN_FAULT_CASE)
#undef KILN_FAULT_CASE
  }
  return Verdict::kCrash;
}

std::optional<FaultKind> ParseFault(std::string_view name) {
  for (int i = 0; i < kNumFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (FaultName(kind) == name) return kind;
  }
  return std::nullopt;
}

BuildResult InjectFault(FaultKind kind, const BuildResult& good) {
  BuildResult faulty = good;
  faulty.symbol = SymbolOf(kind, good.signature);
  faulty.object = std::string(FaultKernels());
  faulty.preparation.reset();
  if (kind == FaultKind::kBrokenObject) {
    faulty.object.resize(faulty.object.size() / 2);
  }
  return faulty;
}

absl::StatusOr<MeasureResult> FaultInjectingRunner::Measure(
    const MeasureTask& task, const BuildResult& kernel,
    const MeasureOptions& options) {
  const int64_t call = calls_++;
  if (should_fail_ != nullptr && !should_fail_(call)) {
    return runner_->Measure(task, kernel, options);
  }
  const auto kind = static_cast<FaultKind>(injected_ % kNumFaultKinds);
  return MeasureFault(kind, task, kernel, options);
}

absl::StatusOr<MeasureResult> FaultInjectingRunner::MeasureFault(
    FaultKind kind, const MeasureTask& task, const BuildResult& kernel,
    const MeasureOptions& options) {
  ++injected_;
  const BuildResult faulty = InjectFault(kind, kernel);
  if (kind != FaultKind::kWorkerKilled) {
    return runner_->Measure(task, faulty, options);
  }
  std::thread killer([this] {
    std::this_thread::sleep_for(kKillAfter);
    if (runner_->worker_pid() > 0) kill(runner_->worker_pid(), SIGKILL);
  });
  absl::StatusOr<MeasureResult> result =
      runner_->Measure(task, faulty, options);
  killer.join();
  return result;
}

}  // namespace kiln
