// Arguments for any program.
#ifndef KILN_TESTS_FUZZ_INPUTS_H_
#define KILN_TESTS_FUZZ_INPUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A tensor for each parameter, drawn from the seed; scalars have no dimensions.
// Symbolic extents are `symbol`. What becomes an index stays inside of what it
// indexes, where the bounds of codegen/guard/input_ranges.h tell.
absl::StatusOr<std::vector<Tensor>> DrawInputs(const Function& f, uint64_t seed,
                                               int64_t symbol);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_INPUTS_H_
