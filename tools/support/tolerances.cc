#include "kiln/tools/support/tolerances.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kiln/search/measure/compare.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

double DefaultRelative(DType dtype) {
  if (dtype == DType::BFloat16()) return 3e-2;
  if (dtype.bits() == 16) return 4e-3;
  return dtype.bits() == 64 ? 1e-12 : 1e-5;
}

double RootMeanSquare(const NDArray& array) {
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = LoadElement(array.data(), array.dtype(), i);
    if (std::isfinite(value)) sum += value * value;
  }
  return std::sqrt(sum / std::max<int64_t>(1, array.num_elements()));
}

double Largest(const NDArray& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = LoadElement(array.data(), array.dtype(), i);
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// One convolution by tiles of F(4, 3) has errors of 5e-6 of its largest result
// in float32 (docs/numerics.md), and a model has several.
constexpr double kNormwiseFactor = 10;

double Scale(const NDArray& expected, ErrorBound bound) {
  const double scale = bound == ErrorBound::kNormwise
                           ? kNormwiseFactor * Largest(expected)
                           : RootMeanSquare(expected);
  return std::max(scale, LeastNormal(expected.dtype()));
}

}  // namespace

Tolerance ToleranceFor(const NDArray& expected, ErrorBound bound, double rtol,
                       double atol) {
  const bool real = expected.dtype().is_float() && bound != ErrorBound::kExact;
  Tolerance tolerance = {rtol, atol};
  if (rtol < 0) tolerance.rtol = real ? DefaultRelative(expected.dtype()) : 0;
  if (atol < 0) {
    tolerance.atol = real ? tolerance.rtol * Scale(expected, bound) : 0;
  }
  return tolerance;
}

absl::Status CheckTolerance(const char* flag, double value) {
  if (value == -1 || (std::isfinite(value) && value >= 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, " ", value, " has to be a number from 0 on, such as 1e-5"));
}

}  // namespace kiln
