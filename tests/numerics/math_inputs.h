// The arguments that errors of functions are measured at.
#ifndef KILN_TESTS_NUMERICS_MATH_INPUTS_H_
#define KILN_TESTS_NUMERICS_MATH_INPUTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/tests/numerics/math_error.h"

namespace kiln {

// The error of `function` over `dtype`. Of one argument: all special ones, and
// every `stride`-th number of up to 32 bits (1: all), or 2^32 / stride random
// ones of 64 bits. Of two: all pairs of special ones, and 2^32 / stride random
// pairs, half of them with exponents near 0. The work is shared by `threads`.
absl::StatusOr<MathError> MeasureMath(const MathFunction& function, DType dtype,
                                      const std::string& numerics,
                                      const Target& target, uint64_t stride,
                                      int threads);

}  // namespace kiln

#endif  // KILN_TESTS_NUMERICS_MATH_INPUTS_H_
