#include "kiln/vm/ndarray/element.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kiln/base/check.h"

namespace kiln {
namespace {

// Calls `f` with a null pointer to the C++ type of integers and bool.
template <typename F>
auto DispatchInteger(DType dtype, F&& f) {
  if (dtype.is_uint()) {
    switch (dtype.bits()) {
      case 8:
        return f(static_cast<uint8_t*>(nullptr));
      case 16:
        return f(static_cast<uint16_t*>(nullptr));
      case 32:
        return f(static_cast<uint32_t*>(nullptr));
    }
    return f(static_cast<uint64_t*>(nullptr));
  }
  switch (dtype.bits()) {
    case 8:
      return f(static_cast<int8_t*>(nullptr));
    case 16:
      return f(static_cast<int16_t*>(nullptr));
    case 32:
      return f(static_cast<int32_t*>(nullptr));
  }
  return f(static_cast<int64_t*>(nullptr));
}

template <typename T>
T Load(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T>
void Store(void* data, int64_t index, T value) {
  std::memcpy(static_cast<char*>(data) + index * sizeof(T), &value, sizeof(T));
}

template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  // The upper limit as a double may be one above it.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = static_cast<double>(std::numeric_limits<T>::max());
  if (value <= low) return std::numeric_limits<T>::min();
  if (value >= high) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <typename T>
std::string Shortest(T value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  KILN_CHECK(error == std::errc());
  return std::string(buffer, end);
}

bool IsHalf(DType dtype) {
  return dtype.code() == TypeCode::kFloat && dtype.bits() == 16;
}

}  // namespace

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double value;
  if (exponent == 0x1f) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction | 0x400, exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

uint16_t DoubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  // The spacing of halfs around the value; nearbyint rounds to even. A carry
  // out of the fraction rightly raises the exponent.
  exponent = std::max(exponent, -13);
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  return static_cast<uint16_t>(sign | (((exponent + 13) << 10) + units));
}

float BFloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double LoadElement(const void* data, DType dtype, int64_t index) {
  if (dtype.is_bool()) return Load<uint8_t>(data, index) != 0;
  if (dtype.is_integral()) {
    return DispatchInteger(dtype, [&](auto* type) {
      return static_cast<double>(
          Load<std::remove_pointer_t<decltype(type)>>(data, index));
    });
  }
  if (dtype.code() == TypeCode::kBFloat) {
    return BFloat16ToFloat(Load<uint16_t>(data, index));
  }
  if (IsHalf(dtype)) return HalfToDouble(Load<uint16_t>(data, index));
  if (dtype.bits() == 32) return Load<float>(data, index);
  return Load<double>(data, index);
}

void StoreElement(void* data, DType dtype, int64_t index, double value) {
  if (dtype.is_bool()) {
    Store<uint8_t>(data, index, value != 0);
  } else if (dtype.is_integral()) {
    DispatchInteger(dtype, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      Store<T>(data, index, Saturate<T>(value));
    });
  } else if (dtype.code() == TypeCode::kBFloat) {
    Store(data, index, FloatToBFloat16(static_cast<float>(value)));
  } else if (IsHalf(dtype)) {
    Store(data, index, DoubleToHalf(value));
  } else if (dtype.bits() == 32) {
    Store(data, index, static_cast<float>(value));
  } else {
    Store(data, index, value);
  }
}

std::string ElementToString(const void* data, DType dtype, int64_t index) {
  if (dtype.is_bool()) return Load<uint8_t>(data, index) ? "true" : "false";
  if (dtype.is_integral()) {
    return DispatchInteger(dtype, [&](auto* type) {
      return std::to_string(
          Load<std::remove_pointer_t<decltype(type)>>(data, index));
    });
  }
  const double value = LoadElement(data, dtype, index);
  if (dtype.bits() == 64) return Shortest(value);
  return Shortest(static_cast<float>(value));
}

}  // namespace kiln
