#include "kiln/tools/support/prepare_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/numerics.h"

ABSL_FLAG(bool, fuse, true,
          "For graph functions: calls that follow each other become one "
          "kernel where they can. Tuning and compiling have to agree on it.");
ABSL_FLAG(std::string, numerics, kiln::kTermwise,
          "What graph functions allow that do not say it: componentwise, or "
          "normwise errors, as of Winograd's convolutions (docs/numerics.md). "
          "Tuning and compiling have to agree on it.");

namespace kiln {

absl::StatusOr<PrepareOptions> PrepareOptionsOfFlags() {
  const std::string numerics = absl::GetFlag(FLAGS_numerics);
  if (numerics != kTermwise && numerics != kNormwise) {
    return absl::InvalidArgumentError(
        absl::StrCat("--numerics ", numerics, " is unknown; there are ",
                     kTermwise, " and ", kNormwise));
  }
  PrepareOptions options;
  options.fusion =
      absl::GetFlag(FLAGS_fuse) ? Fusion::kByPattern : Fusion::kNone;
  options.allows_normwise = numerics == kNormwise;
  return options;
}

absl::StatusOr<Module> PrepareByFlags(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const PrepareOptions options, PrepareOptionsOfFlags());
  return PrepareModel(module, options);
}

}  // namespace kiln
