// Arithmetic on data. Nothing that a program computes is undefined (see
// docs/numerics.md): integers wrap, a division by 0 gives 0, a shift by too
// much shifts everything out. Float operations are rounded each to their type;
// `contract` and `arcp` say where that may be otherwise.
//
//   A[i] // B[i]   →   b = B[i] == 0 or overflow ? 1 : B[i]
//                      B[i] == 0 ? 0 : A[i] // b
#include "kiln/base/check.h"
#include "kiln/codegen/llvm/emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

// A constant that neither 0 nor -1 is, in each lane.
bool IsSafeDivisor(const Expr& e) {
  const auto* broadcast = e.As<BroadcastNode>();
  const int64_t* value = AsInt(broadcast ? broadcast->value : e);
  return value && *value != 0 && *value != -1;
}

// Vectors of which float64 holds each number, divided by what is no constant.
bool DividesByFloats(DType dtype, llvm::Value* divisor) {
  return divisor->getType()->isVectorTy() && dtype.bits() <= 32 &&
         !llvm::isa<llvm::Constant>(divisor);
}

}  // namespace

// What a loop divides by one number may be multiplied by its reciprocal; what
// the program divides by a constant is divided.
llvm::Value* Emitter::EmitQuotient(llvm::Value* a, llvm::Value* b) {
  llvm::Value* value = b_.CreateFDiv(a, b);
  auto* division = llvm::dyn_cast<llvm::Instruction>(value);
  if (division && !strict_ && !llvm::isa<llvm::Constant>(b)) {
    division->setHasAllowReciprocal(true);
  }
  return value;
}

llvm::Value* Emitter::EmitFloatArithmetic(ExprKind kind, llvm::Value* a,
                                          llvm::Value* b) {
  if (a->getType()->getScalarType()->isBFloatTy()) {
    return EmitBf16Arithmetic(kind, a, b);
  }
  const auto rounded = [&](llvm::Intrinsic::ID id) {
    return b_.CreateUnaryIntrinsic(id, b_.CreateFDiv(a, b));
  };
  if (kind == ExprKind::kAdd) return b_.CreateFAdd(a, b);
  if (kind == ExprKind::kSub) return b_.CreateFSub(a, b);
  if (kind == ExprKind::kMul) return b_.CreateFMul(a, b);
  if (kind == ExprKind::kDiv) return EmitQuotient(a, b);
  if (kind == ExprKind::kTruncDiv) return rounded(llvm::Intrinsic::trunc);
  if (kind == ExprKind::kTruncMod) {
    return a->getType()->getScalarType()->isHalfTy()
               ? b_.CreateFRem(a, b)
               : EmitWideMath(Intrinsic::kFmod, {a, b});
  }
  llvm::Value* floor = rounded(llvm::Intrinsic::floor);
  if (kind == ExprKind::kFloorDiv) return floor;
  KILN_CHECK(kind == ExprKind::kFloorMod) << ExprKindName(kind);
  return b_.CreateFSub(a, b_.CreateFMul(floor, b));
}

// In float32, and rounded after each operation: LLVM would call functions of
// its own for that where the machine has no instruction.
llvm::Value* Emitter::EmitBf16Arithmetic(ExprKind kind, llvm::Value* a,
                                         llvm::Value* b) {
  const auto rounded = [&](ExprKind operation, llvm::Value* x, llvm::Value* y) {
    return RoundToBf16(EmitFloatArithmetic(operation, x, y));
  };
  llvm::Value* x = Comparable(a);
  llvm::Value* y = Comparable(b);
  const bool floors =
      kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
  if (!floors && kind != ExprKind::kTruncDiv) return rounded(kind, x, y);
  const llvm::Intrinsic::ID whole =
      floors ? llvm::Intrinsic::floor : llvm::Intrinsic::trunc;
  llvm::Value* quotient =
      b_.CreateUnaryIntrinsic(whole, Comparable(rounded(ExprKind::kDiv, x, y)));
  if (kind != ExprKind::kFloorMod) return RoundToBf16(quotient);
  llvm::Value* product = rounded(ExprKind::kMul, quotient, y);
  return rounded(ExprKind::kSub, x, Comparable(product));
}

llvm::Value* Emitter::EmitIntArithmetic(const BinaryNode& node, llvm::Value* a,
                                        llvm::Value* b) {
  // Index arithmetic is exact, so LLVM may assume that it does not wrap; what
  // is loaded is data, which may.
  const bool exact = node.dtype.Element() == DType::Index() && !node.has_loads;
  switch (node.kind) {
    case ExprKind::kAdd:
      return b_.CreateAdd(a, b, "", false, exact);
    case ExprKind::kSub:
      return b_.CreateSub(a, b, "", false, exact);
    case ExprKind::kMul:
      return b_.CreateMul(a, b, "", false, exact);
    default:
      return EmitDivision(node, a, b);
  }
}

// x // 0 is 0 and x % 0 is x; the least number divided by -1 is itself. The
// machine's instruction faults at both, so it divides by 1 there.
llvm::Value* Emitter::EmitDivision(const BinaryNode& node, llvm::Value* a,
                                   llvm::Value* b) {
  const DType dtype = node.dtype;
  if (IsSafeDivisor(node.b)) return EmitQuotientOrRest(node.kind, dtype, a, b);
  llvm::Type* type = a->getType();
  llvm::Value* zero = b_.CreateICmpEQ(b, llvm::Constant::getNullValue(type));
  llvm::Value* bad = zero;
  if (dtype.is_int()) {
    const auto least = llvm::APInt::getSignedMinValue(dtype.bits());
    bad = b_.CreateOr(
        zero,
        b_.CreateAnd(b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type)),
                     b_.CreateICmpEQ(a, llvm::ConstantInt::get(type, least))));
  }
  llvm::Value* by = b_.CreateSelect(bad, llvm::ConstantInt::get(type, 1), b);
  llvm::Value* value = EmitQuotientOrRest(node.kind, dtype, a, by);
  const bool divides =
      node.kind == ExprKind::kFloorDiv || node.kind == ExprKind::kTruncDiv;
  return b_.CreateSelect(zero, divides ? llvm::Constant::getNullValue(type) : a,
                         value);
}

// Towards zero. No machine divides vectors of integers, but a quotient of
// floats whose mantissa holds both numbers is rounded across no integer: two
// integers q and a / b differ by 1 / b at least, rounding moves a / b by less.
llvm::Value* Emitter::EmitIntQuotient(DType dtype, llvm::Value* a,
                                      llvm::Value* b) {
  const bool is_int = dtype.is_int();
  if (!DividesByFloats(dtype, b)) {
    return is_int ? b_.CreateSDiv(a, b) : b_.CreateUDiv(a, b);
  }
  llvm::Type* type = a->getType();
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  const bool is_narrow = dtype.bits() <= 16;
  llvm::Type* floats =
      type->getWithNewType(is_narrow ? b_.getFloatTy() : b_.getDoubleTy());
  llvm::Value* quotient = b_.CreateFDiv(
      is_int ? b_.CreateSIToFP(a, floats) : b_.CreateUIToFP(a, floats),
      is_int ? b_.CreateSIToFP(b, floats) : b_.CreateUIToFP(b, floats));
  llvm::Type* wide = type->getWithNewType(b_.getInt32Ty());
  return b_.CreateTrunc(is_int || is_narrow ? b_.CreateFPToSI(quotient, wide)
                                            : b_.CreateFPToUI(quotient, wide),
                        type);
}

llvm::Value* Emitter::EmitIntRest(DType dtype, llvm::Value* a, llvm::Value* b) {
  if (!DividesByFloats(dtype, b)) {
    return dtype.is_int() ? b_.CreateSRem(a, b) : b_.CreateURem(a, b);
  }
  return b_.CreateSub(a, b_.CreateMul(EmitIntQuotient(dtype, a, b), b));
}

llvm::Value* Emitter::EmitQuotientOrRest(ExprKind kind, DType dtype,
                                         llvm::Value* a, llvm::Value* b) {
  const bool divides =
      kind == ExprKind::kFloorDiv || kind == ExprKind::kTruncDiv;
  const bool truncates =
      kind == ExprKind::kTruncDiv || kind == ExprKind::kTruncMod;
  if (!dtype.is_int() || truncates) {
    return divides ? EmitIntQuotient(dtype, a, b) : EmitIntRest(dtype, a, b);
  }
  KILN_CHECK(kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod)
      << ExprKindName(kind);
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(b);
  if (known && known->getValue().isStrictlyPositive() &&
      known->getValue().isPowerOf2()) {
    return divides ? b_.CreateAShr(a, known->getValue().logBase2())
                   : b_.CreateAnd(a, known->getValue() - 1);
  }
  llvm::Value* rest = EmitIntRest(dtype, a, b);
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  llvm::Value* wrong =
      b_.CreateAnd(b_.CreateICmpNE(rest, zero),
                   b_.CreateICmpSLT(b_.CreateXor(rest, b), zero));
  if (!divides) return b_.CreateSelect(wrong, b_.CreateAdd(rest, b), rest);
  return b_.CreateSub(EmitIntQuotient(dtype, a, b),
                      b_.CreateZExt(wrong, a->getType()));
}

// All bits go in a shift by the width or more, or by a negative number, which
// counts as a large one: 0, or the sign of what is shifted right.
llvm::Value* Emitter::EmitShift(const CallNode& call, llvm::Value* a,
                                llvm::Value* b) {
  llvm::Value* last =
      llvm::ConstantInt::get(b->getType(), call.dtype.bits() - 1);
  llvm::Value* by = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, last);
  const bool left = call.op == Intrinsic::kShiftLeft;
  if (!left && call.dtype.is_int()) return b_.CreateAShr(a, by);
  return b_.CreateSelect(b_.CreateICmpUGT(b, last),
                         llvm::Constant::getNullValue(a->getType()),
                         left ? b_.CreateShl(a, by) : b_.CreateLShr(a, by));
}

}  // namespace kiln::codegen_internal
