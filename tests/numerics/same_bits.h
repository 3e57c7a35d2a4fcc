// Agreement to the last bit of compiled code and of the interpreter.
#ifndef KILN_TESTS_NUMERICS_SAME_BITS_H_
#define KILN_TESTS_NUMERICS_SAME_BITS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A tensor for each parameter of `f`: random numbers among which infinities,
// NaNs, zeros of both signs, subnormal and huge ones are frequent, and the
// bounds of integers. Only small numbers for every fourth seed.
std::vector<Tensor> HardInputs(const Function& f, uint64_t seed);

// OK where both hold the same bits; any NaN for any other.
absl::Status SameBits(const Tensor& got, const Tensor& expected);

// Whether the code of `compiled` gives on `args` what the interpreter makes of
// `meaning`, or, where that calls exp or the like, its own code.
absl::Status GivesTheSameBits(const Function& compiled, const Function& meaning,
                              const std::vector<Tensor>& args);

}  // namespace kiln

#endif  // KILN_TESTS_NUMERICS_SAME_BITS_H_
