#include "kiln/tools/tuning/record_target.h"

#include "absl/strings/str_cat.h"

namespace kiln {

std::string RecordTarget(const Target& target) {
  return absl::StrCat(target.Fingerprint(), " threads=", target.num_cores);
}

}  // namespace kiln
