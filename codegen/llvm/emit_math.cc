// Calls of elementary functions, each by the first of these that there is: a
// polynomial for float32 (emit_polynomial.cc), a formula in float64 for float32
// (double_math.h), an operation of the machine, libm for each lane. Those of
// 16-bit floats are computed in float32 and rounded once:
//
//   T.exp(A[i]) of float16   →   fptrunc(polynomial(fpext(A[i])))
//
// docs/numerics.md has their errors, tests/numerics measures them.
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/double_math.h"
#include "kiln/codegen/llvm/emitter.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

using Values = std::vector<llvm::Value*>;

// LLVM's own operation for `op`; not_intrinsic when there is none.
llvm::Intrinsic::ID LlvmIntrinsic(Intrinsic op) {
  switch (op) {
    case Intrinsic::kSqrt:
      return llvm::Intrinsic::sqrt;
    case Intrinsic::kFma:
      return llvm::Intrinsic::fma;
    case Intrinsic::kFloor:
      return llvm::Intrinsic::floor;
    case Intrinsic::kCeil:
      return llvm::Intrinsic::ceil;
    case Intrinsic::kTrunc:
      return llvm::Intrinsic::trunc;
    case Intrinsic::kNearbyint:
      return llvm::Intrinsic::nearbyint;
    case Intrinsic::kRound:
      return llvm::Intrinsic::round;
    case Intrinsic::kCopysign:
      return llvm::Intrinsic::copysign;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

const char* LibmName(Intrinsic op) {
  switch (op) {
#define KILN_LIBM(op, name) \
  case Intrinsic::k##op:    \
    return name;
    KILN_LIBM(Exp, "exp")
    KILN_LIBM(Exp2, "exp2")
    KILN_LIBM(Exp10, "exp10")
    KILN_LIBM(Log, "log")
    KILN_LIBM(Log2, "log2")
    KILN_LIBM(Log10, "log10")
    KILN_LIBM(Log1p, "log1p")
    KILN_LIBM(Tanh, "tanh")
    KILN_LIBM(Erf, "erf")
    KILN_LIBM(Sin, "sin")
    KILN_LIBM(Cos, "cos")
    KILN_LIBM(Tan, "tan")
    KILN_LIBM(Sinh, "sinh")
    KILN_LIBM(Cosh, "cosh")
    KILN_LIBM(Asin, "asin")
    KILN_LIBM(Acos, "acos")
    KILN_LIBM(Atan, "atan")
    KILN_LIBM(Asinh, "asinh")
    KILN_LIBM(Acosh, "acosh")
    KILN_LIBM(Atanh, "atanh")
    KILN_LIBM(Hypot, "hypot")
    KILN_LIBM(Atan2, "atan2")
    KILN_LIBM(Pow, "pow")
    KILN_LIBM(Fmod, "fmod")
#undef KILN_LIBM
    default:
      return nullptr;
  }
}

// Operations that give an element of 16 bits as it is, without rounding.
bool IsExact(Intrinsic op) {
  return op == Intrinsic::kFloor || op == Intrinsic::kCeil ||
         op == Intrinsic::kTrunc || op == Intrinsic::kNearbyint ||
         op == Intrinsic::kRound;
}

bool IsClassification(Intrinsic op) {
  return op == Intrinsic::kIsNan || op == Intrinsic::kIsInf ||
         op == Intrinsic::kIsFinite;
}

bool RoundsToWhole(Intrinsic op) {
  return op == Intrinsic::kFloor || op == Intrinsic::kCeil ||
         op == Intrinsic::kTrunc || op == Intrinsic::kRound ||
         op == Intrinsic::kNearbyint;
}

// The sum of two float64 so that rounding it again gives what rounding the
// exact sum would: of its two neighbours, the one with an odd last bit (as
// FusedMultiplyAdd of ir/interp/numeric.h).
llvm::Value* SumToOdd(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y) {
  llvm::Type* type = x->getType();
  llvm::Type* int_type = type->getWithNewType(b.getInt64Ty());
  llvm::Value* zero = llvm::ConstantFP::get(type, 0);
  llvm::Value* sum = b.CreateFAdd(x, y);
  llvm::Value* from_y = b.CreateFSub(sum, x);
  llvm::Value* lost = b.CreateFAdd(b.CreateFSub(x, b.CreateFSub(sum, from_y)),
                                   b.CreateFSub(y, from_y));
  llvm::Value* bits = b.CreateBitCast(sum, int_type);
  llvm::Value* is_even =
      b.CreateIsNull(b.CreateAnd(bits, llvm::ConstantInt::get(int_type, 1)));
  llvm::Value* is_short =
      b.CreateICmpEQ(b.CreateFCmpOGT(lost, zero), b.CreateFCmpOGT(sum, zero));
  llvm::Value* step =
      b.CreateSelect(is_short, llvm::ConstantInt::get(int_type, 1),
                     llvm::ConstantInt::getSigned(int_type, -1));
  llvm::Value* moves = b.CreateAnd(b.CreateFCmpONE(lost, zero), is_even);
  return b.CreateSelect(moves, b.CreateBitCast(b.CreateAdd(bits, step), type),
                        sum);
}

}  // namespace

// libm in the width of the type, float32 or float64, lane by lane.
llvm::Value* Emitter::EmitLibm(const char* name, const Values& args) {
  llvm::Type* type = args[0]->getType();
  llvm::Type* scalar = type->getScalarType();
  const llvm::FunctionCallee callee = module_->getOrInsertFunction(
      absl::StrCat(name, scalar->isDoubleTy() ? "" : "f"),
      llvm::FunctionType::get(
          scalar, std::vector<llvm::Type*>(args.size(), scalar), false));
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return b_.CreateCall(callee, args);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    Values lane_args;
    for (llvm::Value* arg : args) {
      lane_args.push_back(b_.CreateExtractElement(arg, lane));
    }
    result =
        b_.CreateInsertElement(result, b_.CreateCall(callee, lane_args), lane);
  }
  return result;
}

// By its bits: an operation on bfloat16 may make zeros of subnormal numbers.
llvm::Value* Emitter::EmitMagnitude(llvm::Value* x) {
  llvm::Type* type = x->getType();
  if (type->getScalarSizeInBits() != 16) {
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  }
  llvm::Type* int_type = type->getWithNewType(b_.getInt16Ty());
  llvm::Value* bits = b_.CreateBitCast(x, int_type);
  bits = b_.CreateAnd(bits, llvm::ConstantInt::get(int_type, 0x7fff));
  return b_.CreateBitCast(bits, type);
}

llvm::Value* Emitter::EmitClassification(Intrinsic op, llvm::Value* x) {
  x = Comparable(x);
  if (op == Intrinsic::kIsNan) return b_.CreateFCmpUNO(x, x);
  llvm::Value* magnitude = EmitMagnitude(x);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  return op == Intrinsic::kIsInf ? b_.CreateFCmpOEQ(magnitude, infinity)
                                 : b_.CreateFCmpOLT(magnitude, infinity);
}

// Of float32, its functions and no others; the same in all modes.
llvm::Value* Emitter::EmitInDoubles(Intrinsic op, const Values& args) {
  const char* name = LibmName(op);
  if (!name) return nullptr;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  return EmitInDouble(b_, target_.fma, op, args,
                      [&] { return EmitLibm(name, args); });
}

// Of float32 or float64; null for what is no such function.
llvm::Value* Emitter::EmitWideMath(Intrinsic op, const Values& args) {
  llvm::Type* type = args[0]->getType();
  if (type->getScalarType()->isFloatTy()) {
    if (llvm::Value* value = EmitPolynomial(op, args[0])) return value;
    if (llvm::Value* value = EmitInDoubles(op, args)) return value;
  }
  if (const auto id = LlvmIntrinsic(op)) {
    return b_.CreateIntrinsic(id, {type}, args);
  }
  if (const char* name = LibmName(op)) return EmitLibm(name, args);
  if (op == Intrinsic::kRsqrt) {
    return b_.CreateFDiv(Splat(1.0, type), b_.CreateUnaryIntrinsic(
                                               llvm::Intrinsic::sqrt, args[0]));
  }
  if (op != Intrinsic::kSigmoid) return nullptr;
  llvm::Value* x = args[0];
  return SigmoidOf(x, EmitLibm("exp", {MinusMagnitude(x)}));
}

// bfloat16 by their bits: LLVM makes floor(extended x) an operation on
// bfloat16, for which it calls a function where the machine has no instruction.
Values Emitter::Extended(const Values& args, llvm::Type* element) {
  Values wide;
  for (llvm::Value* arg : args) {
    llvm::Value* value = Comparable(arg);
    wide.push_back(
        b_.CreateFPCast(value, value->getType()->getWithNewType(element)));
  }
  return wide;
}

// Of 16-bit floats. Products of two of them are exact in float64. A sum of such
// a product and a float16 that is not exact there is not halfway between two
// float16 either; one with a bfloat16 may be.
llvm::Value* Emitter::EmitNarrowMath(const CallNode& call, const Values& args) {
  const int lanes = call.dtype.lanes();
  if (call.op == Intrinsic::kFma) {
    const Values wide = Extended(args, b_.getDoubleTy());
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    llvm::Value* product = b_.CreateFMul(wide[0], wide[1]);
    llvm::Value* sum = call.dtype.code() == TypeCode::kBFloat
                           ? SumToOdd(b_, product, wide[2])
                           : b_.CreateFAdd(product, wide[2]);
    return EmitCast(call.dtype, DType::Float(64).WithLanes(lanes), sum);
  }
  llvm::Value* wide = EmitWideMath(call.op, Extended(args, b_.getFloatTy()));
  return wide ? EmitCast(call.dtype, DType::Float(32).WithLanes(lanes), wide)
              : nullptr;
}

llvm::Value* Emitter::EmitFloatMath(const CallNode& call) {
  Values args;
  for (const Expr& arg : call.args) args.push_back(Emit(arg));
  if (IsClassification(call.op)) return EmitClassification(call.op, args[0]);
  if (call.op == Intrinsic::kAbs) return EmitMagnitude(args[0]);
  const bool narrow = call.dtype.bits() == 16;
  const bool is_half = narrow && call.dtype.code() == TypeCode::kFloat;
  if (is_half && IsExact(call.op)) {
    return b_.CreateUnaryIntrinsic(LlvmIntrinsic(call.op), args[0]);
  }
  return narrow ? EmitNarrowMath(call, args) : EmitWideMath(call.op, args);
}

// x * 2^n in 64 bits, where powers of two are normal numbers up to 2^1023 and
// those beyond leave nothing or infinity of any narrower float.
llvm::Value* Emitter::EmitLdexp(const CallNode& call) {
  if (call.dtype.bits() == 64) {
    return Fail(absl::UnimplementedError(
                    "T.ldexp on float64 cannot be compiled for a CPU"),
                call.dtype);
  }
  llvm::Value* x = Emit(call.args[0]);
  llvm::Value* n = Emit(call.args[1]);
  llvm::Type* wide_int = n->getType()->getWithNewBitWidth(64);
  llvm::Type* wide = x->getType()->getWithNewType(b_.getDoubleTy());
  n = b_.CreateSExt(n, wide_int);
  const auto whole = [&](int64_t value) {
    return llvm::ConstantInt::getSigned(wide_int, value);
  };
  n = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, whole(-1022));
  n = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, whole(1023));
  llvm::Value* power = b_.CreateBitCast(
      b_.CreateShl(b_.CreateAdd(n, whole(1023)), whole(52)), wide);
  llvm::Value* result = b_.CreateFMul(b_.CreateFPExt(x, wide), power);
  return EmitCast(call.dtype, DType::Float(64).WithLanes(call.dtype.lanes()),
                  result);
}

// Fixed-point products in 128 bits, which hold every intermediate value.
llvm::Value* Emitter::EmitFixedPoint(const CallNode& call) {
  const bool per_axis = call.op == Intrinsic::kQMultiplyShiftPerAxis;
  std::vector<llvm::Value*> v;
  for (const Expr& arg : call.args) v.push_back(Emit(arg));
  llvm::Type* narrow = v[0]->getType();
  llvm::Type* wide = narrow->getWithNewBitWidth(128);
  const auto positive = [&](llvm::Value* value) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value,
                                    llvm::Constant::getNullValue(narrow));
  };
  llvm::Value* left = nullptr;
  if (per_axis) {
    llvm::Value* shifts =
        b_.CreateICmpNE(v[5], llvm::Constant::getNullValue(v[5]->getType()));
    left = b_.CreateSelect(shifts, v[2], llvm::Constant::getNullValue(narrow));
  } else {
    left = positive(v[3]);
  }
  llvm::Value* down = per_axis ? v[3] : positive(b_.CreateNeg(v[3]));
  llvm::Value* right =
      b_.CreateZExt(b_.CreateAdd(v[per_axis ? 4 : 2], down), wide);
  llvm::Value* x =
      b_.CreateShl(b_.CreateSExt(v[0], wide), b_.CreateZExt(left, wide));
  llvm::Value* product = b_.CreateMul(x, b_.CreateSExt(v[1], wide));
  // Half of what the shift drops: 2^right / 2, and 0 where it drops nothing.
  llvm::Value* one = llvm::ConstantInt::get(wide, 1);
  llvm::Value* half = b_.CreateLShr(b_.CreateShl(one, right), one);
  return b_.CreateTrunc(b_.CreateAShr(b_.CreateAdd(product, half), right),
                        narrow);
}

llvm::Value* Emitter::EmitMath(const CallNode& call) {
  const DType element =
      call.args.empty() ? DType::Void() : call.args[0].dtype().Element();
  if (element.is_integral() && RoundsToWhole(call.op)) {
    return Emit(call.args[0]);
  }
  if (call.op == Intrinsic::kAbs && !element.is_float()) {
    llvm::Value* x = Emit(call.args[0]);
    if (!call.dtype.is_int()) return x;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse());
  }
  if (element.is_float()) {
    if (llvm::Value* value = EmitFloatMath(call)) return value;
  }
  return Fail(absl::UnimplementedError(absl::StrCat(
                  "T.", std::string(GetIntrinsicInfo(call.op).name), " on ",
                  element.ToString(), " cannot be compiled for a CPU")),
              call.dtype);
}

}  // namespace kiln::codegen_internal
