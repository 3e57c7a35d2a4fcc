// From which values random inputs may be drawn, so that those which become
// indices stay inside of what they index.
#ifndef KILN_CODEGEN_GUARD_INPUT_RANGES_H_
#define KILN_CODEGEN_GUARD_INPUT_RANGES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The whole numbers from low to high, both included.
struct ValueRange {
  int64_t low = 0;
  int64_t high = 0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

// One for each parameter; nullopt where any numbers will do that FillRandom
// (vm/ndarray/random_fill.h) draws. In a function with
//
//   O[i, j] = E[idx[i] * 4 + j, 0]      with E: (40, 8), j < 4
//
// idx gets [0, 9]. Through casts, arithmetic, conditions, intermediate buffers
// and tensors of indices into tensors of indices; ranges are as wide as the
// bounds of ir/arith can tell, for all parameters together. Where no range
// makes an access safe, those are given that make most of the others safe.
//
// `scalars` are values of scalar parameters and symbolic extents, by name of
// the variable; others are taken for unknown. The error is one of lowering `f`.
absl::StatusOr<std::vector<std::optional<ValueRange>>> InputRanges(
    const Function& f,
    const std::vector<std::pair<Var, int64_t>>& scalars = {});

}  // namespace kiln

#endif  // KILN_CODEGEN_GUARD_INPUT_RANGES_H_
