#include "kiln/tools/tuning/ranked_in_model.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kiln {

std::string ToString(const RankedInModel& ranked) {
  if (!ranked.skipped.empty()) {
    return absl::StrCat("not compared in the model: ", ranked.skipped);
  }
  return absl::StrFormat(
      "compared in the model: %d of %d functions run faster there by another "
      "schedule than alone; their calls %.3f ms -> %.3f ms",
      ranked.changed, ranked.functions, ranked.before_s * 1e3,
      ranked.after_s * 1e3);
}

}  // namespace kiln
