#include "kiln/tools/support/sample_check.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/search/measure/reference_task.h"
#include "kiln/search/measure/samples.h"
#include "kiln/search/measure/trusted.h"
#include "kiln/tools/support/arguments.h"

namespace kiln {
namespace {

// The bytes of each written buffer.
std::vector<std::string> Written(const KernelSignature& signature,
                                 const CallContents& contents) {
  std::vector<std::string> bytes;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    if (!signature.buffers[i].written) continue;
    const NDArray& array = *contents.buffers[i];
    bytes.emplace_back(static_cast<const char*>(array.data()), array.bytes());
  }
  return bytes;
}

}  // namespace

absl::Status CheckOnSamples(const Function& f, const KernelSignature& signature,
                            absl::Span<const PackedValue> before,
                            absl::Span<const PackedValue> after) {
  if (!signature.scalars.empty()) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const CallContents start,
                        ToContents(signature, before));
  KILN_ASSIGN_OR_RETURN(const CallContents end, ToContents(signature, after));
  const std::vector<std::string> outputs = Written(signature, end);
  std::vector<Tolerance> tolerances =
      TolerancesOf(signature, outputs, ReductionLength(f));
  if (IsStrict(f) && !CallsRoundedMath(f)) {
    tolerances.assign(tolerances.size(), {});
  }
  SampleOptions options;
  options.made_by = "by its default schedule";
  const absl::Status status =
      CheckSamples(f, signature, start, outputs, tolerances, options).status();
  if (!absl::IsInternal(status)) return status;
  return absl::InternalError(
      absl::StrCat(std::string(status.message()),
                   "; this is a fault of Kiln: run it without --schedule "
                   "default, and report the program"));
}

}  // namespace kiln
