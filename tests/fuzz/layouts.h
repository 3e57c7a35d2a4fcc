// Arguments of a function whose parameters a schedule has laid out anew.
#ifndef KILN_TESTS_FUZZ_LAYOUTS_H_
#define KILN_TESTS_FUZZ_LAYOUTS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {

// Where the elements of each parameter of the first function have gone:
// position[p][i] is the new place of element i of parameter p.
struct ArgumentLayout {
  std::vector<std::vector<int64_t>> shape;
  std::vector<std::vector<int64_t>> position;
  std::vector<std::vector<double>> padding;  // what other places hold
};

// Follows the transform_layout steps of the trace. The shapes of `args`, one
// for each parameter of the original function, tell symbolic extents.
absl::StatusOr<ArgumentLayout> FollowLayouts(const State& start,
                                             const Trace& trace,
                                             const std::vector<Tensor>& args);

// `args` of the original function as the scheduled one wants them.
std::vector<Tensor> ToNewLayout(const ArgumentLayout& layout,
                                const std::vector<Tensor>& args);
// And back, without the padding. `like` tells the original shapes.
std::vector<Tensor> FromNewLayout(const ArgumentLayout& layout,
                                  const std::vector<Tensor>& args,
                                  const std::vector<Tensor>& like);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_LAYOUTS_H_
