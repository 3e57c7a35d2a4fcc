// Some elements of trusted outputs, computed again by the interpreter: by other
// code than the compiler's, of the function that no schedule has touched, and
// on the very inputs, however large they are.
#ifndef KILN_SEARCH_MEASURE_SAMPLES_H_
#define KILN_SEARCH_MEASURE_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/contents.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

struct SampleOptions {
  uint64_t seed = 0;
  int64_t per_output = 40;
  // Loop iterations of the interpreter after which no further element is begun,
  // and those within which the first one has to come.
  int64_t steps = 400'000;
  int64_t max_steps = 6'000'000;
  // How the outputs were computed, for messages.
  std::string made_by = "without a schedule";
};

struct Samples {
  int64_t count = 0;
  std::string none;  // why there is none, where count is 0
};

// Indices into an array, all different: its corners, elements at the borders of
// each dimension, and anywhere; at most `count`.
std::vector<std::vector<int64_t>> SampleIndices(
    const std::vector<int64_t>& shape, int64_t count, uint64_t seed);

// Compares elements of `outputs`, one for each written buffer of the signature,
// which were computed from `contents`. InternalError, with the element, where
// one is not what the interpreter makes of it.
absl::StatusOr<Samples> CheckSamples(const Function& f,
                                     const KernelSignature& signature,
                                     const CallContents& contents,
                                     absl::Span<const std::string> outputs,
                                     absl::Span<const Tolerance> tolerances,
                                     const SampleOptions& options = {});

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_SAMPLES_H_
