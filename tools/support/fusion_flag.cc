#include "kiln/tools/support/fusion_flag.h"

#include "absl/flags/flag.h"

ABSL_FLAG(bool, fuse, true,
          "For graph functions: calls that follow each other become one "
          "kernel where they can. Tuning and compiling have to agree on it.");

namespace kiln {

Fusion FusionOfFlag() {
  return absl::GetFlag(FLAGS_fuse) ? Fusion::kByPattern : Fusion::kNone;
}

}  // namespace kiln
