#include "kiln/ir/interp/numeric.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln {
namespace {

template <typename T>
T Read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <typename T, typename V>
void Write(V value, uint8_t* at) {
  const T narrowed = static_cast<T>(value);
  std::memcpy(at, &narrowed, sizeof(narrowed));
}

// The sum rounded to odd: of the two neighbours of a sum that is no double, the
// one with an odd last bit, from which rounding again is as from the sum itself
// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
double SumToOdd(double x, double y) {
  const double sum = x + y;
  const double from_y = sum - x;
  const double lost = (x - (sum - from_y)) + (y - from_y);
  const auto bits = std::bit_cast<int64_t>(sum);
  if (!(std::abs(lost) > 0) || (bits & 1)) return sum;
  return std::bit_cast<double>(bits + ((lost > 0) == (sum > 0) ? 1 : -1));
}

}  // namespace

double FusedMultiplyAdd(DType dtype, double x, double y, double z) {
  if (dtype.bits() == 64) return std::fma(x, y, z);
  if (dtype.bits() == 32) {
    return std::fma(static_cast<float>(x), static_cast<float>(y),
                    static_cast<float>(z));
  }
  return RoundNarrow(dtype, SumToOdd(x * y, z));  // x * y is exact
}

int64_t RealToInt(double value, DType to) {
  if (to.is_bool()) return value != 0;
  if (std::isnan(value)) return 0;
  if (to.is_uint()) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, to.bits())) return HighestInt(to);
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  const double limit = std::ldexp(1.0, to.bits() - 1);
  if (value >= limit) return HighestInt(to);
  if (value < -limit) return LowestInt(to);
  return static_cast<int64_t>(value);
}

double IntToReal(int64_t value, DType from, DType to) {
  const bool wide = from.is_uint() && value < 0;
  if (to.bits() == 32) {
    return wide ? static_cast<float>(static_cast<uint64_t>(value))
                : static_cast<float>(value);
  }
  const double real = wide ? static_cast<double>(static_cast<uint64_t>(value))
                           : static_cast<double>(value);
  return RoundReal(to, real);
}

void StoreReal(DType dtype, double value, uint8_t* at) {
  if (dtype.bits() == 32) return Write<float>(value, at);
  if (dtype.bits() == 64) return Write<double>(value, at);
  Write<uint16_t>(EncodeNarrow(dtype, value), at);
}

int64_t LoadInt(DType dtype, const uint8_t* at) {
  switch (dtype.bytes()) {
    case 1:
      return WrapInt(dtype, Read<int8_t>(at));
    case 2:
      return WrapInt(dtype, Read<int16_t>(at));
    case 4:
      return WrapInt(dtype, Read<int32_t>(at));
    default:
      return Read<int64_t>(at);
  }
}

void StoreInt(DType dtype, int64_t value, uint8_t* at) {
  switch (dtype.bytes()) {
    case 1:
      return Write<int8_t>(value, at);
    case 2:
      return Write<int16_t>(value, at);
    case 4:
      return Write<int32_t>(value, at);
    default:
      return Write<int64_t>(value, at);
  }
}

double HighestReal(DType dtype) {
  if (dtype.bits() == 32) return std::numeric_limits<float>::max();
  if (dtype.bits() == 64) return std::numeric_limits<double>::max();
  return HighestNarrow(dtype);
}

double LowestReal(DType dtype) { return -HighestReal(dtype); }

int64_t LowestInt(DType dtype) {
  return dtype.is_int() ? -(int64_t{1} << (dtype.bits() - 2)) * 2 : 0;
}

int64_t HighestInt(DType dtype) {
  if (dtype.is_bool()) return 1;
  if (dtype.is_int()) return ~LowestInt(dtype);
  return static_cast<int64_t>(~uint64_t{0} >> (64 - dtype.bits()));
}

}  // namespace kiln
