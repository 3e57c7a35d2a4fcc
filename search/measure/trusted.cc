#include "kiln/search/measure/trusted.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/measure/compare.h"

namespace kiln {

absl::StatusOr<std::vector<std::string>> RunTrusted(
    const BuildResult& trusted, const CallContents& contents, Runner& runner,
    const TrustedOptions& options) {
  if (trusted.preparation) {
    return absl::InvalidArgumentError("a trusted kernel has no preparation");
  }
  KILN_ASSIGN_OR_RETURN(const auto task,
                        MakeRunTask(trusted.signature, contents));
  MeasureOptions measure;
  measure.num_threads = options.num_threads;
  measure.deadline_s = options.deadline_s;
  KILN_ASSIGN_OR_RETURN(RunResult run, runner.Run(*task, trusted, measure));
  if (run.verdict == Verdict::kOk) return std::move(run.outputs);
  return absl::FailedPreconditionError(absl::StrCat(
      "function ", trusted.signature.name, " cannot be run as it stands: ",
      std::string(VerdictName(run.verdict)), ": ", run.reason));
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeComparedTask(
    const KernelSignature& signature, const CallContents& contents,
    absl::Span<const std::string> outputs,
    absl::Span<const Tolerance> tolerances, TaskExtras extras) {
  std::vector<TaskTensor> tensors(signature.buffers.size());
  size_t next = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (contents.buffers[i]) {
      const NDArray& array = *contents.buffers[i];
      tensors[i].initial = {static_cast<const char*>(array.data()),
                            static_cast<size_t>(array.bytes())};
    }
    if (!signature.buffers[i].written) continue;
    tensors[i].expected = outputs[next];
    tensors[i].tolerance = tolerances[next++];
  }
  return MeasureTask::Create(signature, contents.scalars, tensors,
                             std::move(extras));
}

std::vector<Tolerance> TolerancesOf(const KernelSignature& signature,
                                    absl::Span<const std::string> outputs,
                                    int64_t reduction_length) {
  std::vector<Tolerance> tolerances;
  for (const KernelBuffer& buffer : signature.buffers) {
    if (!buffer.written) continue;
    const std::string& bytes = outputs[tolerances.size()];
    const auto count =
        static_cast<int64_t>(bytes.size() / buffer.dtype.bytes());
    tolerances.push_back(
        ToleranceFor(buffer.dtype, reduction_length,
                     LargestMagnitude(buffer.dtype, bytes.data(), count)));
  }
  return tolerances;
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeTrustedTask(
    const BuildResult& trusted, const CallContents& contents, Runner& runner,
    const TrustedOptions& options) {
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> outputs,
                        RunTrusted(trusted, contents, runner, options));
  std::vector<Tolerance> tolerances =
      TolerancesOf(trusted.signature, outputs, options.reduction_length);
  if (options.exact) tolerances.assign(tolerances.size(), {});
  return MakeComparedTask(trusted.signature, contents, outputs, tolerances);
}

}  // namespace kiln
