#include "kiln/tests/fuzz/inputs.h"

#include <random>

#include "kiln/base/status_macros.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/ir/testing/random_program.h"

namespace kiln {

absl::StatusOr<std::vector<Tensor>> DrawInputs(const Function& f, uint64_t seed,
                                               int64_t symbol) {
  std::vector<std::pair<Var, int64_t>> symbols;
  for (const Var& dim : SymbolicDims(f)) symbols.emplace_back(dim, symbol);
  KILN_ASSIGN_OR_RETURN(const auto ranges, InputRanges(f, symbols));
  std::vector<Tensor> inputs = RandomInputs(f, seed, symbol);
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!ranges[i] || inputs[i].dtype.is_float()) continue;
    const auto [low, high] = *ranges[i];
    for (int64_t at = 0; at < inputs[i].size(); ++at) {
      const auto width = static_cast<uint64_t>(high - low) + 1;
      inputs[i].SetInt(at, low + static_cast<int64_t>(random() % width));
    }
  }
  return inputs;
}

}  // namespace kiln
