// The numbers that networks compute with: drawn by a seed, so that every back
// end has the same.
#ifndef KILN_EXAMPLES_MODELS_WEIGHTS_H_
#define KILN_EXAMPLES_MODELS_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/examples/models/network.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::models {

// Each is a function of the seed, its name and its shape, whatever the order in
// which they are asked for. They are kept. kResourceExhausted where there is no
// memory for one.
class Weights {
 public:
  explicit Weights(uint64_t seed) : seed_(seed) {}
  absl::StatusOr<NDArray> Get(const Weight& weight);
  // All of a network, by name.
  absl::StatusOr<std::map<std::string, NDArray>> All(const Network& net);

 private:
  uint64_t seed_;
  std::map<std::string, NDArray> drawn_;
};

// A tensor for each input of the network, in order, from the same seed.
absl::StatusOr<std::vector<NDArray>> DrawInputs(const Network& net,
                                                uint64_t seed);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_WEIGHTS_H_
