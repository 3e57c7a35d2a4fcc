// Element types of tensors and scalars.
#ifndef KILN_IR_TYPE_DTYPE_H_
#define KILN_IR_TYPE_DTYPE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

// What the bits of one lane mean. `kBool` has 1 bit of meaning and takes a
// byte in memory; `kHandle` is an address; `kVoid` has no value.
enum class TypeCode : uint8_t {
  kInt,
  kUInt,
  kFloat,
  kBFloat,
  kBool,
  kHandle,
  kVoid
};

// A scalar or fixed-length vector type such as float32 or int8x16.
class DType {
 public:
  constexpr DType() = default;
  constexpr DType(TypeCode code, int bits, int lanes = 1)
      : code_(code),
        bits_(static_cast<uint8_t>(bits)),
        lanes_(static_cast<uint16_t>(lanes)) {}

  static constexpr DType Int(int bits) { return {TypeCode::kInt, bits}; }
  static constexpr DType UInt(int bits) { return {TypeCode::kUInt, bits}; }
  static constexpr DType Float(int bits) { return {TypeCode::kFloat, bits}; }
  static constexpr DType BFloat16() { return {TypeCode::kBFloat, 16}; }
  static constexpr DType Bool() { return {TypeCode::kBool, 1}; }
  static constexpr DType Handle() { return {TypeCode::kHandle, 64}; }
  static constexpr DType Void() { return {TypeCode::kVoid, 0}; }
  // The type of loop variables, block iterators, extents and indices.
  static constexpr DType Index() { return Int(64); }

  // Reads names such as "float32", "bfloat16", "int8x16", "bool", "handle".
  // Widths other than 8, 16, 32, 64 (16, 32, 64 for floats) are refused.
  static std::optional<DType> FromString(std::string_view name);
  std::string ToString() const;

  constexpr TypeCode code() const { return code_; }
  constexpr int bits() const { return bits_; }
  constexpr int lanes() const { return lanes_; }
  constexpr DType WithLanes(int lanes) const { return {code_, bits_, lanes}; }
  constexpr DType Element() const { return WithLanes(1); }

  constexpr bool is_int() const { return code_ == TypeCode::kInt; }
  constexpr bool is_uint() const { return code_ == TypeCode::kUInt; }
  constexpr bool is_float() const {
    return code_ == TypeCode::kFloat || code_ == TypeCode::kBFloat;
  }
  constexpr bool is_bool() const { return code_ == TypeCode::kBool; }
  constexpr bool is_handle() const { return code_ == TypeCode::kHandle; }
  constexpr bool is_void() const { return code_ == TypeCode::kVoid; }
  constexpr bool is_integral() const {
    return is_int() || is_uint() || is_bool();
  }
  constexpr bool is_scalar() const { return lanes_ == 1; }

  // Bytes that one value takes in memory, all lanes together.
  constexpr int64_t bytes() const {
    return (bits_ + 7) / 8 * static_cast<int64_t>(lanes_);
  }

  friend constexpr bool operator==(DType a, DType b) {
    return a.code_ == b.code_ && a.bits_ == b.bits_ && a.lanes_ == b.lanes_;
  }
  friend constexpr bool operator!=(DType a, DType b) { return !(a == b); }

  // A number that identifies the type, for hashing.
  constexpr uint32_t Key() const {
    return static_cast<uint32_t>(code_) << 24 |
           static_cast<uint32_t>(bits_) << 16 | lanes_;
  }

 private:
  TypeCode code_ = TypeCode::kVoid;
  uint8_t bits_ = 0;
  uint16_t lanes_ = 1;
};

}  // namespace kiln

#endif  // KILN_IR_TYPE_DTYPE_H_
