// Kiln's search, as its contenders use it.
#ifndef KILN_TOOLS_RIVALS_KILN_TUNING_H_
#define KILN_TOOLS_RIVALS_KILN_TUNING_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/rivals/contender.h"

namespace kiln::bench {

struct TuningCase {
  std::string name;  // of the task, in the work directory
  Module module;     // with one function "main"
  int threads = 1;
};

struct TunedKernel {
  Function function;
  double us = 0;  // of one call, as measured in the search
};

// The fastest of so many trials; those of earlier runs count. The error says
// where the reasons are if no trial succeeded.
absl::StatusOr<TunedKernel> TuneKernel(const KilnOptions& options,
                                       TuningCase what);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_KILN_TUNING_H_
