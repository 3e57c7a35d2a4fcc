// How close results have to come to what is expected, by flags or by default.
#ifndef KILN_TOOLS_SUPPORT_TOLERANCES_H_
#define KILN_TOOLS_SUPPORT_TOLERANCES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// What the errors of floats are small beside: nothing (they are exact), the
// terms of each element, or the largest element (ir/tensor/numerics.h).
enum class ErrorBound { kExact, kComponentwise, kNormwise };

// `rtol` and `atol` where they are not negative. By default integers are
// compared exactly; floats to 1e-5, more for those of 16 bits and less for
// float64, relative to the element and to the root mean square of all, or, if
// errors are normwise, ten times as much of the largest. Elements are sums of
// up to `terms` products, each of which may be rounded to 16 bits; of fewer
// than 32 sums, the root mean square counts for as many times as they are
// fewer.
Tolerance ToleranceFor(const NDArray& expected, ErrorBound bound, double rtol,
                       double atol, int64_t terms = 1);

// Refuses the value of a flag --rtol or --atol that is no number from 0 on, nor
// -1 for the default.
absl::Status CheckTolerance(const char* flag, double value);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_TOLERANCES_H_
