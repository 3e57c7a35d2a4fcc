// Every float of 16 bits is a double exactly, so that rounding is done on
// doubles: scaled by the unit of its last place, a value is rounded to a whole
// number, ties to even, and scaled back. The unit stops shrinking at the
// smallest normal number, which makes subnormals round right as well.
//
//   2049 as float16     unit 2:   1024.5 -> 1024, 2048
//   65520 as float16    unit 32:  2047.5 -> 2048, 65536: infinity
//
// Encode adds the exponent field, made one too small, to the digits with their
// leading 1, which carries into it: 1.0 is (14 << 10) + 1024 = 0x3c00. A
// subnormal has no leading 1 and keeps the field 0.
#include "kiln/ir/interp/numeric.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace kiln {
namespace {

// A binary float format with hidden leading bit.
struct Format {
  int fraction_bits;
  int min_exponent;  // of the smallest normal number
  int max_exponent;
};

constexpr Format kHalf = {10, -14, 15};
constexpr Format kBrain = {7, -126, 127};

Format NarrowFormat(DType dtype) {
  return dtype.code() == TypeCode::kBFloat ? kBrain : kHalf;
}

double HighestOf(Format format) {
  return std::ldexp(2 - std::ldexp(1.0, -format.fraction_bits),
                    format.max_exponent);
}

double RoundTo(Format format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);  // value = m * 2^exponent, 0.5 <= m < 1
  const int leading = std::max(exponent - 1, format.min_exponent);
  const int unit = leading - format.fraction_bits;
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  if (std::fabs(rounded) <= HighestOf(format)) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

uint16_t Encode(Format format, double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int bias = format.max_exponent;
  const int special = (2 * bias + 1) << format.fraction_bits;
  if (std::isnan(value)) {
    return sign | special | 1 << (format.fraction_bits - 1);
  }
  if (std::isinf(value)) return sign | special;
  if (value == 0) return sign;
  int exponent;
  std::frexp(value, &exponent);
  const int leading = std::max(exponent - 1, format.min_exponent);
  const int digits = static_cast<int>(
      std::ldexp(std::fabs(value), format.fraction_bits - leading));
  // A subnormal has no hidden bit, so that the sum below leaves its field 0.
  return sign | (((leading + bias - 1) << format.fraction_bits) + digits);
}

double Decode(Format format, uint16_t bits) {
  const int bias = format.max_exponent;
  const int fraction_mask = (1 << format.fraction_bits) - 1;
  const int fraction = bits & fraction_mask;
  const int exponent = (bits & 0x7fff) >> format.fraction_bits;
  double value;
  if (exponent == 2 * bias + 1) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, format.min_exponent - format.fraction_bits);
  } else {
    value = std::ldexp(fraction + fraction_mask + 1,
                       exponent - bias - format.fraction_bits);
  }
  return bits & 0x8000 ? -value : value;
}

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

}  // namespace

double RoundNarrow(DType dtype, double value) {
  return RoundTo(NarrowFormat(dtype), value);
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

double LoadNarrow(DType dtype, const uint8_t* at) {
  return Decode(NarrowFormat(dtype), Read<uint16_t>(at));
}

void StoreReal(DType dtype, double value, uint8_t* at) {
  if (dtype.bits() == 32) return Write<float>(value, at);
  if (dtype.bits() == 64) return Write<double>(value, at);
  Write<uint16_t>(Encode(NarrowFormat(dtype), value), at);
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
  return HighestOf(NarrowFormat(dtype));
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
