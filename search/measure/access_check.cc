#include "kiln/search/measure/access_check.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/guard/guard_accesses.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/search/measure/trusted.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

absl::Status CheckAccesses(const Function& f, const CallContents& contents,
                           Builder& builder, Runner& runner,
                           double deadline_s) {
  KILN_ASSIGN_OR_RETURN(const std::optional<GuardedFunction> guarded,
                        GuardAccesses(WithoutPreparation(f)));
  if (!guarded) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const BuildResult build,
                        builder.Build(guarded->function));
  CallContents with_report = contents;
  KILN_ASSIGN_OR_RETURN(with_report.buffers.emplace_back(),
                        NDArray::Zeros({kGuardReportSize}, DType::Int(64)));
  TrustedOptions options;
  options.deadline_s = deadline_s;
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> outputs,
                        RunTrusted(build, with_report, runner, options));
  int64_t report[kGuardReportSize];
  if (outputs.empty() || outputs.back().size() != sizeof report) {
    return absl::InternalError("a guarded run gave no report");
  }
  std::memcpy(report, outputs.back().data(), sizeof report);
  return ReadGuardReport(*guarded, report);
}

}  // namespace kiln
