// What `compile --minutes` does before it compiles.
#ifndef KILN_TOOLS_TUNING_TUNE_MODEL_H_
#define KILN_TOOLS_TUNING_TUNE_MODEL_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/bind_flags.h"
#include "kiln/tools/tuning/view.h"

namespace kiln {

struct TuneModelRequest {
  Target target;
  double seconds = 0;
  // Where records are kept: a second run goes on, and measures no program
  // twice.
  std::string work_dir;
  std::function<bool()> stop;  // polled
  // Values of dimensions that stay open, and the graph function that has them
  // (tools/support/bind_flags.h): where functions of open extents are timed.
  std::string sampled = {};
  std::vector<DimValues> samples = {};
};

// Tunes what the graph functions of a prepared module call, equal functions
// once, most where the most time is to be gained. Functions of open extents
// that no sample tells are named on standard error; InvalidArgument where there
// are no others.
absl::Status TuneModel(const Module& prepared, const TuneModelRequest& request,
                       TuneView* view);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_TUNE_MODEL_H_
