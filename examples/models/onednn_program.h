// A network over oneDNN, as a user who knows the library writes it: layers that
// follow each other in one primitive (fusion.h), layouts chosen by the
// primitives, weights brought into them ahead of time with batch norms taken
// in, memory and scratchpads used again. What oneDNN does not have (looking up
// rows) are loops.
#ifndef KILN_EXAMPLES_MODELS_ONEDNN_PROGRAM_H_
#define KILN_EXAMPLES_MODELS_ONEDNN_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/examples/models/network.h"
#include "kiln/examples/models/weights.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::models {

class OneDnnProgram {
 public:
  // Primitives for so many threads of OpenMP. Internal where oneDNN refuses a
  // layer, which the message names; Unimplemented for a batch norm that follows
  // no convolution.
  static absl::StatusOr<std::unique_ptr<OneDnnProgram>> Create(
      const Network& net, Weights& weights, int threads);
  ~OneDnnProgram();

  // Where the inputs are read from and the outputs written to, in order.
  const std::vector<NDArray>& inputs() const;
  const std::vector<NDArray>& outputs() const;
  absl::Status Run();

  // A line for each primitive or loop, in order: the layer, what oneDNN calls
  // the code that computes it, and what is fused into it.
  const std::vector<std::string>& steps() const;
  // How long each of them takes, in milliseconds: the best of so many runs.
  absl::StatusOr<std::vector<double>> StepTimes(int runs);

 private:
  class Impl;
  explicit OneDnnProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_ONEDNN_PROGRAM_H_
