// Most comparisons find nothing, so a loop that vectorizes decides whether
// there is any mismatch, and only then a slow one finds out where. The quick
// answer may be a false alarm, but never a false "equal":
//
//   float32, all close     quick pass: yes                 1 pass
//   NaN where NaN is       quick pass: no, slow pass: ok   2 passes
//   float16, bfloat16      always the slow pass
//   integers               memcmp, then the slow pass with the tolerances
//
// The worst mismatch is the one whose error is the largest multiple of its own
// tolerance, not the largest error: with rtol 1e-5 and atol 1e-8, 1 where 0 is
// expected is worse than 1000050 where 1000000 is.
#include "kiln/vm/ndarray/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();

// A difference that is infinite or NaN is never within tolerance, even where
// the tolerance is infinite.
template <typename T>
bool AllFiniteAndClose(const T* got, const T* expected, int64_t n,
                       Tolerance tolerance) {
  int64_t bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double e = expected[i];
    const double error = std::fabs(got[i] - e);
    const double limit = tolerance.Limit(e);
    bad += !(error <= limit) | !(error <= kLargest);
  }
  return bad == 0;
}

bool QuickEqual(const NDArray& got, const NDArray& expected,
                Tolerance tolerance) {
  const int64_t n = got.num_elements();
  if (n == 0) return true;
  const DType dtype = got.dtype();
  if (dtype.is_integral()) {
    return std::memcmp(got.data(), expected.data(), got.bytes()) == 0;
  }
  if (dtype.bits() == 32) {
    return AllFiniteAndClose(got.data_as<float>(), expected.data_as<float>(), n,
                             tolerance);
  }
  if (dtype.bits() == 64) {
    return AllFiniteAndClose(got.data_as<double>(), expected.data_as<double>(),
                             n, tolerance);
  }
  return false;
}

// The distance of two elements; integers are subtracted exactly first.
double AbsoluteError(const NDArray& got, const NDArray& expected, int64_t i) {
  if (got.dtype().is_int() && got.dtype().bits() == 64) {
    return std::fabs(
        static_cast<double>(static_cast<__int128>(got.data_as<int64_t>()[i]) -
                            expected.data_as<int64_t>()[i]));
  }
  if (got.dtype().is_uint() && got.dtype().bits() == 64) {
    return std::fabs(static_cast<double>(
        static_cast<__int128>(got.data_as<uint64_t>()[i]) -
        static_cast<__int128>(expected.data_as<uint64_t>()[i])));
  }
  return std::fabs(LoadElement(got.data(), got.dtype(), i) -
                   LoadElement(expected.data(), expected.dtype(), i));
}

// How far the error at `i` exceeds its tolerance: 0 where the elements agree,
// infinite where they differ in being infinite or NaN.
double Excess(const NDArray& got, const NDArray& expected, int64_t i,
              Tolerance tolerance) {
  const double g = LoadElement(got.data(), got.dtype(), i);
  const double e = LoadElement(expected.data(), expected.dtype(), i);
  if (got.dtype().is_float() && Agree(g, e, tolerance)) return 0;
  if (!std::isfinite(g) || !std::isfinite(e)) {
    return std::numeric_limits<double>::infinity();
  }
  const double error = AbsoluteError(got, expected, i);
  const double limit = tolerance.Limit(e);
  if (error <= limit) return 0;
  return limit > 0 ? error / limit : kLargest;
}

Mismatch Describe(const NDArray& got, const NDArray& expected, int64_t i) {
  Mismatch mismatch;
  mismatch.got = ElementToString(got.data(), got.dtype(), i);
  mismatch.expected = ElementToString(expected.data(), expected.dtype(), i);
  mismatch.absolute_error = AbsoluteError(got, expected, i);
  mismatch.relative_error =
      mismatch.absolute_error /
      std::fabs(LoadElement(expected.data(), expected.dtype(), i));
  mismatch.index.resize(got.rank());
  for (int axis = got.rank() - 1; axis >= 0; --axis) {
    mismatch.index[axis] = i % got.shape()[axis];
    i /= got.shape()[axis];
  }
  return mismatch;
}

CompareReport Examine(const NDArray& got, const NDArray& expected,
                      Tolerance tolerance) {
  CompareReport report;
  int64_t first = -1;
  int64_t worst = -1;
  double worst_excess = 0;
  double worst_error = 0;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const double excess = Excess(got, expected, i, tolerance);
    if (excess == 0) continue;
    if (report.num_mismatches++ == 0) first = i;
    const double error = AbsoluteError(got, expected, i);
    if (excess > worst_excess ||
        (excess == worst_excess && error > worst_error)) {
      worst = i;
      worst_excess = excess;
      worst_error = error;
    }
  }
  if (first >= 0) report.first = Describe(got, expected, first);
  if (worst >= 0) report.worst = Describe(got, expected, worst);
  return report;
}

std::string MismatchText(const Mismatch& mismatch) {
  std::string text = "at [";
  for (size_t i = 0; i < mismatch.index.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(mismatch.index[i]);
  }
  char errors[80];
  std::snprintf(errors, sizeof(errors), " (abs error %.3g, rel error %.3g)",
                mismatch.absolute_error, mismatch.relative_error);
  return text + "] got " + mismatch.got + ", expected " + mismatch.expected +
         errors;
}

}  // namespace

std::string CompareReport::ToString() const {
  if (ok()) {
    return "all " + std::to_string(num_elements) + " elements agree";
  }
  return std::to_string(num_mismatches) + " of " +
         std::to_string(num_elements) + " elements differ; first " +
         MismatchText(first) + "; worst " + MismatchText(worst);
}

absl::StatusOr<CompareReport> Compare(const NDArray& got,
                                      const NDArray& expected,
                                      Tolerance tolerance) {
  if (got.is_null() || expected.is_null() || got.dtype() != expected.dtype() ||
      got.shape() != expected.shape()) {
    return absl::InvalidArgumentError("cannot compare " + got.TypeString() +
                                      " with " + expected.TypeString());
  }
  CompareReport report;
  if (!QuickEqual(got, expected, tolerance)) {
    report = Examine(got, expected, tolerance);
  }
  report.num_elements = got.num_elements();
  return report;
}

}  // namespace kiln
