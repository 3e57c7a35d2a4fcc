#include "kiln/examples/models/weights.h"

#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln::models {
namespace {

// FNV-1a.
uint64_t HashOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return hash;
}

uint64_t SeedOf(uint64_t seed, const std::string& name) {
  return RandomBits(seed, HashOf(name), 0);
}

}  // namespace

absl::StatusOr<NDArray> Weights::Get(const Weight& weight) {
  NDArray& kept = drawn_[weight.name];
  if (!kept.is_null()) return kept;
  KILN_ASSIGN_OR_RETURN(NDArray drawn,
                        NDArray::Empty(weight.shape, DType::Float(32)));
  FillUniform(drawn, weight.low, weight.high, SeedOf(seed_, weight.name));
  kept = drawn;
  return drawn;
}

absl::StatusOr<std::map<std::string, NDArray>> Weights::All(
    const Network& net) {
  std::map<std::string, NDArray> all;
  for (const Weight& weight : net.weights()) {
    KILN_ASSIGN_OR_RETURN(all[weight.name], Get(weight));
  }
  return all;
}

absl::StatusOr<std::vector<NDArray>> DrawInputs(const Network& net,
                                                uint64_t seed) {
  std::vector<NDArray> inputs;
  for (const Node& node : net.nodes()) {
    const auto* input = std::get_if<layer::Input>(&node.layer);
    if (!input) continue;
    KILN_ASSIGN_OR_RETURN(NDArray drawn,
                          NDArray::Empty(node.shape, input->dtype));
    const uint64_t own = SeedOf(seed, "input " + input->name);
    if (input->dtype.is_float()) {
      FillUniform(drawn, input->low, input->high, own);
    } else {
      FillSmallInts(drawn, static_cast<int64_t>(input->low),
                    static_cast<int64_t>(input->high), own);
    }
    inputs.push_back(std::move(drawn));
  }
  return inputs;
}

}  // namespace kiln::models
