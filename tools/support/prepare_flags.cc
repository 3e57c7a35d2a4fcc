#include "kiln/tools/support/prepare_flags.h"

#include <string>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/type/dtype.h"

ABSL_FLAG(bool, fuse, true,
          "For graph functions: calls that follow each other become one "
          "kernel where they can. Tuning and compiling have to agree on it.");
ABSL_FLAG(std::string, numerics, kiln::kTermwise,
          "What graph functions allow that do not say it: componentwise, or "
          "normwise errors, as of Winograd's convolutions (docs/numerics.md). "
          "Tuning and compiling have to agree on it.");

ABSL_FLAG(std::string, precision, "float32",
          "Of what products and convolutions of float32 are computed: float32, "
          "or, with sums of float32, float16 or bfloat16, for which processors "
          "with AMX are many times as fast. Tuning and compiling have to agree "
          "on it.");

namespace kiln {
namespace {

absl::StatusOr<DType> PrecisionOfFlag() {
  const std::string name = absl::GetFlag(FLAGS_precision);
  const DType types[] = {DType::Float(32), DType::Float(16), DType::BFloat16()};
  for (const DType type : types) {
    if (name == type.ToString()) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--precision ", name, " is unknown; there are ",
                   absl::StrJoin(types, ", ", [](std::string* out, DType t) {
                     absl::StrAppend(out, t.ToString());
                   })));
}

}  // namespace

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
  KILN_ASSIGN_OR_RETURN(options.precision, PrecisionOfFlag());
  return options;
}

absl::StatusOr<Module> PrepareByFlags(const Module& module) {
  KILN_ASSIGN_OR_RETURN(const PrepareOptions options, PrepareOptionsOfFlags());
  return PrepareModel(module, options);
}

}  // namespace kiln
