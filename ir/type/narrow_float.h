// Floats of 16 bits: float16 (IEEE 754 binary16) and bfloat16, as doubles,
// which hold each of them exactly, and back.
#ifndef KILN_IR_TYPE_NARROW_FLOAT_H_
#define KILN_IR_TYPE_NARROW_FLOAT_H_

#include <bit>
#include <cstdint>

#include "kiln/ir/type/dtype.h"

namespace kiln {

inline double DecodeFloat16(uint16_t bits) {
  return static_cast<double>(std::bit_cast<_Float16>(bits));
}
// bfloat16 is the upper half of a float.
inline double DecodeBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
inline double DecodeNarrow(DType dtype, uint16_t bits) {
  return dtype.code() == TypeCode::kBFloat ? DecodeBFloat16(bits)
                                           : DecodeFloat16(bits);
}

// The nearest value of the type, ties to even; infinity beyond its range. The
// type is a float of 16 bits.
double RoundNarrow(DType dtype, double value);
// The bits of that value. NaN becomes a quiet one of its sign.
uint16_t EncodeNarrow(DType dtype, double value);
// Its largest finite value.
double HighestNarrow(DType dtype);

}  // namespace kiln

#endif  // KILN_IR_TYPE_NARROW_FLOAT_H_
