// Calls of elementary functions, each by the first of these that there is: a
// polynomial for float32 (emit_polynomial.cc), an operation of the machine,
// libm for each lane. Those of 16-bit floats are computed in float32 and
// rounded once:
//
//   T.exp(A[i]) of float16   →   fptrunc(polynomial(fpext(A[i])))
//
// docs/numerics.md has their errors, tests/numerics measures them.
#include <vector>

#include "absl/strings/str_cat.h"
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
    KILN_LIBM(Atan2, "atan2")
    KILN_LIBM(Pow, "pow")
    KILN_LIBM(Fmod, "fmod")
    KILN_LIBM(Round, "round")
#undef KILN_LIBM
    default:
      return nullptr;
  }
}

// Operations that give an element of 16 bits as it is, without rounding.
bool IsExact(Intrinsic op) {
  return op == Intrinsic::kFloor || op == Intrinsic::kCeil ||
         op == Intrinsic::kTrunc || op == Intrinsic::kNearbyint;
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

Values Extended(llvm::IRBuilder<>& b, const Values& args, llvm::Type* element) {
  Values wide;
  for (llvm::Value* arg : args) {
    wide.push_back(b.CreateFPExt(arg, arg->getType()->getWithNewType(element)));
  }
  return wide;
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
  if (op == Intrinsic::kIsNan) return b_.CreateFCmpUNO(x, x);
  llvm::Value* magnitude = EmitMagnitude(x);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  return op == Intrinsic::kIsInf ? b_.CreateFCmpOEQ(magnitude, infinity)
                                 : b_.CreateFCmpOLT(magnitude, infinity);
}

// Of float32 or float64; null for what is no such function.
llvm::Value* Emitter::EmitWideMath(Intrinsic op, const Values& args) {
  llvm::Type* type = args[0]->getType();
  if (type->getScalarType()->isFloatTy()) {
    if (llvm::Value* value = EmitPolynomial(op, args[0])) return value;
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

// Of 16-bit floats. Products of two of them are exact in float64, and so is the
// rounding of what is added there (RoundToOddF32).
llvm::Value* Emitter::EmitNarrowMath(const CallNode& call, const Values& args) {
  const int lanes = call.dtype.lanes();
  if (call.op == Intrinsic::kFma) {
    const Values wide = Extended(b_, args, b_.getDoubleTy());
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.clearFastMathFlags();
    return EmitCast(call.dtype, DType::Float(64).WithLanes(lanes),
                    b_.CreateFAdd(b_.CreateFMul(wide[0], wide[1]), wide[2]));
  }
  llvm::Value* wide =
      EmitWideMath(call.op, Extended(b_, args, b_.getFloatTy()));
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
