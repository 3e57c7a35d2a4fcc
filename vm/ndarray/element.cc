#include "kiln/vm/ndarray/element.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kiln/base/check.h"
#include "kiln/ir/type/narrow_float.h"

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

bool IsNarrow(DType dtype) { return dtype.is_float() && dtype.bits() == 16; }

}  // namespace

double LoadElement(const void* data, DType dtype, int64_t index) {
  if (dtype.is_bool()) return Load<uint8_t>(data, index) != 0;
  if (dtype.is_integral()) {
    return DispatchInteger(dtype, [&](auto* type) {
      return static_cast<double>(
          Load<std::remove_pointer_t<decltype(type)>>(data, index));
    });
  }
  if (IsNarrow(dtype)) return DecodeNarrow(dtype, Load<uint16_t>(data, index));
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
  } else if (IsNarrow(dtype)) {
    Store(data, index, EncodeNarrow(dtype, value));
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
