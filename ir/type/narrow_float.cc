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
#include "kiln/ir/type/narrow_float.h"

#include <algorithm>
#include <cmath>
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

// Of a value of the format.
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

}  // namespace

double RoundNarrow(DType dtype, double value) {
  return RoundTo(NarrowFormat(dtype), value);
}

uint16_t EncodeNarrow(DType dtype, double value) {
  const Format format = NarrowFormat(dtype);
  return Encode(format, RoundTo(format, value));
}

double HighestNarrow(DType dtype) { return HighestOf(NarrowFormat(dtype)); }

}  // namespace kiln
