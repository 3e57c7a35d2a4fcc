#include "kiln/tools/support/tolerances.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kiln/search/measure/compare.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

// Each of n partial sums is rounded to the type. They grow with the square root
// of their number as the final ones do, so that the error of one sum is about n
// epsilons of a term, over 4.9, as standard deviation: sqrt(n) / 4.9 of the
// sums' root mean square. Two orders of a sum differ by 1.4 times that, of many
// sums one by 5 times more.
double RoundedSums(int64_t terms) {
  return 1.4 * 5 / 4.9 * std::sqrt(static_cast<double>(terms));
}

double DefaultRelative(DType dtype, int64_t terms) {
  constexpr double kBFloat16Epsilon = 1.0 / 128, kHalfEpsilon = 1.0 / 1024;
  if (dtype == DType::BFloat16()) {
    return std::max(3e-2, kBFloat16Epsilon * RoundedSums(terms));
  }
  if (dtype.bits() == 16) {
    return std::max(4e-3, kHalfEpsilon * RoundedSums(terms));
  }
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

// A few sums of terms of either sign may all be small by chance, while their
// errors are not: one is below a 32nd of what such sums are, as root mean
// square, once in 40 times.
double ByChance(int64_t sums) {
  constexpr double kEnough = 32;
  return std::max(1.0,
                  kEnough / static_cast<double>(std::max<int64_t>(1, sums)));
}

double Scale(const NDArray& expected, ErrorBound bound, int64_t terms) {
  const double scale =
      bound == ErrorBound::kNormwise
          ? kNormwiseFactor * Largest(expected)
          : RootMeanSquare(expected) *
                (terms > 1 ? ByChance(expected.num_elements()) : 1);
  return std::max(scale, LeastNormal(expected.dtype()));
}

}  // namespace

Tolerance ToleranceFor(const NDArray& expected, ErrorBound bound, double rtol,
                       double atol, int64_t terms) {
  const bool real = expected.dtype().is_float() && bound != ErrorBound::kExact;
  Tolerance tolerance = {rtol, atol};
  if (rtol < 0) {
    tolerance.rtol = real ? DefaultRelative(expected.dtype(), terms) : 0;
  }
  if (atol < 0) {
    tolerance.atol = real ? tolerance.rtol * Scale(expected, bound, terms) : 0;
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
