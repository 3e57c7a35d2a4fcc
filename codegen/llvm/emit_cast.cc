// Conversions between types of elements. What is undefined for LLVM, a number
// beyond the range of an integer, is what the interpreter makes of it: of
// 300.7 an int8 of 127, of NaN 0.
#include <algorithm>

#include "kiln/codegen/llvm/emitter.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {

// float64 to float32 so that rounding once more, to 16 bits, gives what
// rounding once from float64 would: towards zero, and the last bit set where
// anything was lost. (A direct conversion would call into compiler-rt.)
llvm::Value* Emitter::RoundToOddF32(llvm::Value* value) {
  llvm::Type* wide = value->getType();
  llvm::Type* type = wide->getWithNewType(b_.getFloatTy());
  llvm::Type* int_type = wide->getWithNewType(b_.getInt32Ty());
  auto magnitude = [&](llvm::Value* x) {
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  };
  llvm::Value* nearest = b_.CreateFPTrunc(value, type);
  llvm::Value* back = b_.CreateFPExt(nearest, wide);
  llvm::Value* too_far = b_.CreateFCmpOGT(magnitude(back), magnitude(value));
  llvm::Value* bits = b_.CreateBitCast(nearest, int_type);
  bits = b_.CreateSub(bits, b_.CreateZExt(too_far, int_type));
  llvm::Value* inexact = b_.CreateFCmpONE(back, value);
  bits = b_.CreateOr(bits, b_.CreateZExt(inexact, int_type));
  return b_.CreateBitCast(bits, type);
}

// float32 to bfloat16. The instruction makes zeros of subnormal numbers, which
// a strict function keeps.
llvm::Value* Emitter::RoundToBf16(llvm::Value* value) {
  llvm::Type* type = value->getType();
  llvm::Type* narrow = type->getWithNewType(b_.getBFloatTy());
  if (target_.bf16 && !strict_) return b_.CreateFPTrunc(value, narrow);
  llvm::Type* int_type = type->getWithNewType(b_.getInt32Ty());
  auto integer = [&](int64_t number) {
    return llvm::ConstantInt::get(int_type, number);
  };
  llvm::Value* bits = b_.CreateBitCast(value, int_type);
  llvm::Value* odd = b_.CreateAnd(b_.CreateLShr(bits, 16), integer(1));
  llvm::Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(odd, integer(0x7fff)));
  llvm::Value* quiet = b_.CreateOr(bits, integer(0x400000));
  bits = b_.CreateSelect(b_.CreateFCmpUNO(value, value), quiet, rounded);
  bits = b_.CreateTrunc(b_.CreateLShr(bits, 16),
                        type->getWithNewType(b_.getInt16Ty()));
  return b_.CreateBitCast(bits, narrow);
}

// bfloat16 is extended by its bits: LLVM makes operations on what it sees
// extended ones on bfloat16, and these call into compiler-rt.
llvm::Value* Emitter::EmitFloatCast(DType to, DType from, llvm::Value* value) {
  value = Comparable(value);
  if (to.bits() != 16) return b_.CreateFPCast(value, TypeOf(to));
  if (from.bits() == 64) value = RoundToOddF32(value);
  value =
      b_.CreateFPCast(value, TypeOf(DType::Float(32).WithLanes(from.lanes())));
  return to.code() == TypeCode::kBFloat ? RoundToBf16(value)
                                        : b_.CreateFPTrunc(value, TypeOf(to));
}

llvm::Value* Emitter::Comparable(llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (!type->getScalarType()->isBFloatTy()) return value;
  llvm::Value* bits =
      b_.CreateBitCast(value, type->getWithNewType(b_.getInt16Ty()));
  bits = b_.CreateZExt(bits, type->getWithNewType(b_.getInt32Ty()));
  return b_.CreateBitCast(b_.CreateShl(bits, 16),
                          type->getWithNewType(b_.getFloatTy()));
}

llvm::Value* Emitter::Bits(llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (!type->getScalarType()->isBFloatTy()) return value;
  return b_.CreateBitCast(value, type->getWithNewType(b_.getInt16Ty()));
}

llvm::Value* Emitter::InAllLanes(int lanes, llvm::Value* value) {
  llvm::Value* splat = b_.CreateVectorSplat(lanes, Bits(value));
  return b_.CreateBitCast(splat,
                          llvm::FixedVectorType::get(value->getType(), lanes));
}

llvm::Value* Emitter::Choose(llvm::Value* condition, llvm::Value* a,
                             llvm::Value* b) {
  llvm::Type* type = a->getType();
  if (!type->getScalarType()->isBFloatTy()) {
    return b_.CreateSelect(condition, a, b);
  }
  llvm::Type* bits = type->getWithNewType(b_.getInt16Ty());
  return b_.CreateBitCast(b_.CreateSelect(condition, b_.CreateBitCast(a, bits),
                                          b_.CreateBitCast(b, bits)),
                          type);
}

// A vector's elements as integers, the nearest bound for what lies beyond the
// range, 0 for NaN. Numbers are brought into the range before they are
// converted, of 8 and 16 bits by way of 32: LLVM takes the elements of a
// saturating conversion one by one on x86. Of the bounds, only the upper one of
// an integer with more bits than the significand is no number of the type.
llvm::Value* Emitter::EmitSaturated(DType to, llvm::Value* value) {
  llvm::Type* from = value->getType();
  const bool is_signed = to.is_int();
  const unsigned bits = static_cast<unsigned>(to.bits());
  const llvm::APInt greatest = is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                         : llvm::APInt::getMaxValue(bits);
  const llvm::APInt least = is_signed ? llvm::APInt::getSignedMinValue(bits)
                                      : llvm::APInt::getMinValue(bits);
  const llvm::fltSemantics& semantics =
      from->getScalarType()->getFltSemantics();
  llvm::APFloat low(semantics), high(semantics);
  low.convertFromAPInt(least, is_signed, llvm::APFloat::rmTowardZero);
  const bool is_exact =
      high.convertFromAPInt(greatest, is_signed, llvm::APFloat::rmTowardZero) ==
      llvm::APFloat::opOK;
  llvm::Value* zero = llvm::Constant::getNullValue(from);
  llvm::Value* low_value = llvm::ConstantFP::get(from, low);
  llvm::Value* high_value = llvm::ConstantFP::get(from, high);

  llvm::Value* outside =
      b_.CreateSelect(b_.CreateFCmpOLT(value, low_value), low_value, zero);
  llvm::Value* inside =
      b_.CreateSelect(b_.CreateFCmpOGE(value, low_value), value, outside);
  inside =
      b_.CreateSelect(b_.CreateFCmpOLT(inside, high_value), inside, high_value);
  llvm::Type* type = from->getWithNewBitWidth(bits);
  llvm::Type* wide = from->getWithNewBitWidth(std::max(bits, 32U));
  llvm::Value* whole = is_signed || bits < 32 ? b_.CreateFPToSI(inside, wide)
                                              : b_.CreateFPToUI(inside, wide);
  whole = b_.CreateTrunc(whole, type);
  if (is_exact) return whole;
  return b_.CreateSelect(b_.CreateFCmpOGT(value, high_value),
                         llvm::ConstantInt::get(type, greatest), whole);
}

llvm::Value* Emitter::EmitCast(DType to, DType from, llvm::Value* value) {
  llvm::Type* type = TypeOf(to);
  if (to.is_bool()) {
    if (from.is_float()) value = Comparable(value);
    llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_float() ? b_.CreateFCmpUNE(value, zero)
                           : b_.CreateICmpNE(value, zero);
  }
  if (from.is_float() && to.is_float()) {
    return EmitFloatCast(to, from, value);
  }
  if (from.is_float()) {
    // The nearest bound beyond the range and 0 for NaN, as the interpreter has
    // it; the plain conversions leave both undefined.
    if (from.bits() == 16) {
      const DType wide = DType::Float(32).WithLanes(from.lanes());
      value = EmitFloatCast(wide, from, value);
      // Or LLVM compares the elements of 16 bits, for which x86 has nothing.
      if (!to.is_scalar()) {
        value = b_.CreateArithmeticFence(value, value->getType());
      }
    }
    if (!to.is_scalar()) return EmitSaturated(to, value);
    return b_.CreateIntrinsic(
        to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {type, value->getType()}, {value});
  }
  if (to.is_float()) {
    // What float32 cannot hold would be rounded twice on the way to 16 bits.
    if (to.bits() == 16) {
      const DType wide =
          DType::Float(from.bits() > 16 ? 64 : 32).WithLanes(to.lanes());
      return EmitCast(to, wide, EmitCast(wide, from, value));
    }
    return from.is_int() ? b_.CreateSIToFP(value, type)
                         : b_.CreateUIToFP(value, type);
  }
  return b_.CreateIntCast(value, type, from.is_int());
}

}  // namespace kiln::codegen_internal
