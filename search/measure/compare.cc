// Two passes: a branch-free count, which vectorizes, over each run of elements,
// and the exact comparison only over runs where the count is not 0. The count
// of float32 works in single precision with a limit a thousandth smaller, so it
// may suspect elements that agree, but misses none that differ. For
//
//   got 3.5, expected 3.25, rtol 1e-3, atol 1e-3   |0.25| > 0.00425: a mismatch
//
// A sample of 1000 elements out of 10^6 is 15 runs of 64, evenly spread, with
// the first and the last element among them: borders are where kernels go
// wrong.
#include "kiln/search/measure/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "kiln/ir/type/narrow_float.h"

namespace kiln {
namespace {

constexpr int64_t kRun = 64;
constexpr float kLargest = std::numeric_limits<float>::max();

// Floats of 16 bits as elements of an array.
struct Float16 {
  uint16_t bits;
  explicit operator double() const { return DecodeFloat16(bits); }
};
struct BFloat16 {
  uint16_t bits;
  explicit operator double() const { return DecodeBFloat16(bits); }
};

// Calls f with a value of the C++ type of `dtype`.
template <typename F>
auto WithElementType(DType dtype, F&& f) {
  switch (dtype.code()) {
    case TypeCode::kInt:
      if (dtype.bits() == 8) return f(int8_t{});
      if (dtype.bits() == 16) return f(int16_t{});
      if (dtype.bits() == 32) return f(int32_t{});
      return f(int64_t{});
    case TypeCode::kUInt:
      if (dtype.bits() == 8) return f(uint8_t{});
      if (dtype.bits() == 16) return f(uint16_t{});
      if (dtype.bits() == 32) return f(uint32_t{});
      return f(uint64_t{});
    case TypeCode::kFloat:
      if (dtype.bits() == 16) return f(Float16{});
      if (dtype.bits() == 32) return f(float{});
      return f(double{});
    case TypeCode::kBFloat:
      return f(BFloat16{});
    case TypeCode::kBool:
      return f(uint8_t{});
    case TypeCode::kHandle:
    case TypeCode::kVoid:
      return f(uint64_t{});
  }
  return f(uint64_t{});
}

template <typename T>
bool ElementsAgree(T got, T expected, Tolerance tolerance) {
  if constexpr (std::is_integral_v<T>) {
    return got == expected;
  } else {
    return Agree(static_cast<double>(got), static_cast<double>(expected),
                 tolerance);
  }
}

// Compares without branches, so that the usual case runs in vectors. Floats
// may be counted that agree, never the other way round.
template <typename T>
int64_t CountDifferent(const T* got, const T* expected, int64_t count,
                       Tolerance tolerance) {
  int64_t different = 0;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      const float limit =
          static_cast<float>(tolerance.atol) +
          static_cast<float>(tolerance.rtol) * std::abs(expected[i]);
      const float error = std::abs(got[i] - expected[i]);
      different += !(error <= limit * 0.999f) | !(error <= kLargest);
    } else {
      different += !ElementsAgree(got[i], expected[i], tolerance);
    }
  }
  return different;
}

template <typename T>
void CompareRun(const T* got, const T* expected, int64_t begin, int64_t end,
                Tolerance tolerance, OutputMismatch& mismatch) {
  mismatch.compared += end - begin;
  if (CountDifferent(got + begin, expected + begin, end - begin, tolerance) ==
      0) {
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (ElementsAgree(got[i], expected[i], tolerance)) continue;
    if (mismatch.count++ > 0) continue;
    mismatch.index = i;
    mismatch.got = static_cast<double>(got[i]);
    mismatch.expected = static_cast<double>(expected[i]);
  }
}

double Epsilon(DType dtype) {
  if (!dtype.is_float()) return 0;
  if (dtype.code() == TypeCode::kBFloat) return std::ldexp(1, -8);
  if (dtype.bits() == 16) return std::ldexp(1, -11);
  return std::ldexp(1, dtype.bits() == 32 ? -24 : -53);
}

}  // namespace

double LeastNormal(DType dtype) {
  if (!dtype.is_float()) return 0;
  if (dtype.code() != TypeCode::kBFloat && dtype.bits() == 16) return 0x1p-14;
  return dtype.bits() == 64 ? std::numeric_limits<double>::min()
                            : std::numeric_limits<float>::min();
}

Tolerance ToleranceFor(DType dtype, int64_t reduction_length,
                       double magnitude) {
  const double length =
      static_cast<double>(std::max<int64_t>(reduction_length, 1));
  const double relative = 32 * Epsilon(dtype) * std::sqrt(length);
  return {relative, relative * std::max(magnitude, LeastNormal(dtype))};
}

double LargestMagnitude(DType dtype, const void* data, int64_t count) {
  return WithElementType(dtype, [&](auto zero) {
    const auto* values = static_cast<const decltype(zero)*>(data);
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double magnitude = std::abs(static_cast<double>(values[i]));
      if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
    }
    return largest;
  });
}

std::optional<OutputMismatch> CompareElements(DType dtype, const void* got,
                                              const void* expected,
                                              int64_t count,
                                              Tolerance tolerance,
                                              int64_t max_elements) {
  OutputMismatch mismatch;
  WithElementType(dtype, [&](auto zero) {
    const auto* a = static_cast<const decltype(zero)*>(got);
    const auto* b = static_cast<const decltype(zero)*>(expected);
    const bool all = max_elements <= 0 || count <= max_elements;
    const int64_t runs = all ? 1 : std::max<int64_t>(2, max_elements / kRun);
    const int64_t length = all ? count : std::min(kRun, count);
    for (int64_t r = 0; r < runs; ++r) {
      const auto begin =
          all ? 0
              : static_cast<int64_t>(static_cast<__int128>(count - length) * r /
                                     (runs - 1));
      CompareRun(a, b, begin, begin + length, tolerance, mismatch);
    }
  });
  if (mismatch.count == 0) return std::nullopt;
  return mismatch;
}

std::string ToString(const OutputMismatch& mismatch,
                     const std::string& buffer) {
  return absl::StrCat(buffer, "[", mismatch.index, "] is ", mismatch.got,
                      ", expected ", mismatch.expected, " (", mismatch.count,
                      " of ", mismatch.compared, " compared elements differ)");
}

}  // namespace kiln
