#include "kiln/examples/models/model_flags.h"

#include <utility>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/examples/models/catalog.h"

ABSL_FLAG(std::string, batch, "1",
          "Images or sequences: a number, \"n\" to leave it open, or \"n=4\", "
          "to leave it open and run with 4.");
ABSL_FLAG(std::string, tokens, "128",
          "Of each sequence, for encoders: a number, \"t\" or \"t=17\".");
ABSL_FLAG(std::string, length, "128",
          "Tokens in the cache, for decoders: a number, \"l\" or \"l=17\".");
ABSL_FLAG(uint64_t, seed, 1, "Of weights and inputs.");
ABSL_FLAG(std::string, attention, "products",
          "How attention is written: products (with a softmax), or op.");

namespace kiln::models {
namespace {

absl::StatusOr<AttentionForm> ReadAttention() {
  const std::string form = absl::GetFlag(FLAGS_attention);
  if (form == "products") return AttentionForm::kProducts;
  if (form == "op") return AttentionForm::kOp;
  return absl::InvalidArgumentError(absl::StrCat(
      "--attention ", form, " is unknown; there are products and op"));
}

}  // namespace

absl::StatusOr<ModelOfFlags> ReadModelFlags(
    const std::vector<std::string>& names) {
  if (names.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("one model is named at a time, not ", names.size(),
                     "; there are ", absl::StrJoin(ModelNames(), ", ")));
  }
  KILN_ASSIGN_OR_RETURN(
      RequestedModel model,
      MakeModel({names[0], absl::GetFlag(FLAGS_batch),
                 absl::GetFlag(FLAGS_tokens), absl::GetFlag(FLAGS_length)}));
  ModuleOptions options;
  options.open = std::move(model.open);
  KILN_ASSIGN_OR_RETURN(options.attention, ReadAttention());
  return ModelOfFlags{std::move(model.net), std::move(options),
                      absl::GetFlag(FLAGS_seed)};
}

}  // namespace kiln::models
