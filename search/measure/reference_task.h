// The trusted side of a tuning task: random inputs, and what has to come out.
#ifndef KILN_SEARCH_MEASURE_REFERENCE_TASK_H_
#define KILN_SEARCH_MEASURE_REFERENCE_TASK_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/task_data.h"

namespace kiln {

struct ReferenceOptions {
  uint64_t seed = 0;
  // Programs of at most this many floating-point operations are interpreted
  // too, and the compiled program has to agree.
  double max_interpreted_flop = 3e6;
};

// Fills the inputs of `f`, which no schedule has touched, with random values
// and runs it: `f` compiled as it stands defines the outputs. Refuses symbolic
// dimensions and scalar parameters, which have no values here.
absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeReferenceTask(
    const Function& f, Builder& builder, const ReferenceOptions& options = {});

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_REFERENCE_TASK_H_
