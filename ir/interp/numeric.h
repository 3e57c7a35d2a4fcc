// Numbers as their element types hold them.
//
// A float of any width is carried as a double that the width can represent, an
// integer as an int64 (uint64 by its bits; narrower ones extended by their
// sign or by zeros; bool as 0 or 1).
#ifndef KILN_IR_INTERP_NUMERIC_H_
#define KILN_IR_INTERP_NUMERIC_H_

#include <cstdint>
#include <cstring>

#include "kiln/ir/type/dtype.h"
#include "kiln/ir/type/narrow_float.h"

namespace kiln {

// The nearest value of a float type, ties to even; infinity beyond its range.
// Rounding the double result of + - * / sqrt gives the correctly rounded
// result of the narrower type.
inline double RoundReal(DType dtype, double value) {
  if (dtype.bits() == 32) return static_cast<float>(value);
  return dtype.bits() == 64 ? value : RoundNarrow(dtype, value);
}

// x * y + z of the type's values, rounded once.
double FusedMultiplyAdd(DType dtype, double x, double y, double z);

// The value modulo 2^bits, in the range of the type. Bool: whether not 0.
inline int64_t WrapInt(DType dtype, int64_t value) {
  if (dtype.is_bool()) return value != 0;
  if (dtype.bits() >= 64) return value;
  const int shift = 64 - dtype.bits();
  const uint64_t high = static_cast<uint64_t>(value) << shift;
  return dtype.is_uint() ? static_cast<int64_t>(high >> shift)
                         : static_cast<int64_t>(high) >> shift;
}

// Towards zero; values out of range become the nearest bound, NaN becomes 0.
// As a bool: whether `value` is not 0, which NaN is not.
int64_t RealToInt(double value, DType to);
// `value` of type `from`, rounded once to the float type `to`.
double IntToReal(int64_t value, DType from, DType to);

// One element in memory, at any alignment.
inline double LoadReal(DType dtype, const uint8_t* at) {
  if (dtype.bits() == 32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (dtype.bits() == 16) {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof(bits));
    return DecodeNarrow(dtype, bits);
  }
  double value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
void StoreReal(DType dtype, double value, uint8_t* at);
int64_t LoadInt(DType dtype, const uint8_t* at);
void StoreInt(DType dtype, int64_t value, uint8_t* at);

// Bounds of the type: finite for floats.
double LowestReal(DType dtype);
double HighestReal(DType dtype);
int64_t LowestInt(DType dtype);
int64_t HighestInt(DType dtype);  // by its bits for uint64

}  // namespace kiln

#endif  // KILN_IR_INTERP_NUMERIC_H_
