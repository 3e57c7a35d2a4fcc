// Elementary functions.
//
// float32 exp, log, tanh, erf and sigmoid are vector polynomials:
//   exp   Cephes' expf: degree 5 after reduction by ln 2; 2 ulp; overflows to
//         inf, underflows to 0 below -87.3 (gradually with AVX-512)
//   log   Cephes' logf: degree 8 on [sqrt(1/2), sqrt(2)); 2 ulp
//   tanh  the 13/6 rational of Eigen; 4 ulp
//   erf   Abramowitz and Stegun 7.1.26; absolute error 5e-7
// Other types and functions call libm for each lane.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/emitter.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen_internal {
namespace {

constexpr int kScalefLanes = 16;

}  // namespace

llvm::Value* Emitter::Splat(double value, llvm::Type* like) {
  return llvm::ConstantFP::get(like, value);
}

llvm::Value* Emitter::Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  return b_.CreateFAdd(b_.CreateFMul(a, b), c);
}

llvm::Value* Emitter::Polynomial(llvm::Value* x,
                                 const std::vector<double>& high_first) {
  llvm::Value* sum = Splat(high_first[0], x->getType());
  for (size_t i = 1; i < high_first.size(); ++i) {
    sum = Fma(sum, x, Splat(high_first[i], x->getType()));
  }
  return sum;
}

// Whether a vector of AVX-512 holds so many lanes, whose VSCALEFPS multiplies
// by a power of two and rounds what is too large or too small for the type.
bool Emitter::HasScalef(llvm::Type* type) const {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector && vector->getNumElements() % kScalefLanes == 0 &&
         target_.vector_bits == 512 && llvm::Triple(target_.triple).isX86();
}

// 2^n y, of types that have it.
llvm::Value* Emitter::Scalef(llvm::Value* y, llvm::Value* n) {
  const int lanes =
      llvm::cast<llvm::FixedVectorType>(y->getType())->getNumElements();
  llvm::Value* all = b_.getInt16(-1);
  llvm::Value* rounding = b_.getInt32(4);  // as the control register says
  std::vector<llvm::Value*> parts;
  for (int first = 0; first < lanes; first += kScalefLanes) {
    auto part = [&](llvm::Value* whole) {
      const auto mask = llvm::createSequentialMask(first, kScalefLanes, 0);
      return b_.CreateShuffleVector(whole, mask);
    };
    llvm::Value* value = part(y);
    parts.push_back(
        b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                           {value, part(n), value, all, rounding}));
  }
  return llvm::concatenateVectors(b_, parts);
}

// x = n ln 2 + r, |r| <= ln 2 / 2; e^x = 2^n (1 + r (1 + r p(r))). The sum of
// 1.5 * 2^23 and a small number is rounded to an integer, which stands in its
// low bits; from there it is added to the exponent.
llvm::Value* Emitter::ExpF32(llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* int_type = type->getWithNewType(b_.getInt32Ty());
  auto constant = [&](double value) { return Splat(value, type); };
  const bool scalef = HasScalef(type);
  // Beyond these limits the result is 0 or inf.
  llvm::Value* least = constant(scalef ? -128 : -87.33654);
  llvm::Value* most = constant(scalef ? 128 : 88.72283);
  llvm::Value* low = b_.CreateFCmpOLT(x, least);
  llvm::Value* clamped = b_.CreateSelect(low, least, x);
  clamped = b_.CreateSelect(b_.CreateFCmpOGT(clamped, most), most, clamped);
  const double shift = 12582912.0;
  llvm::Value* shifted =
      Fma(clamped, constant(1.44269504088896341), constant(shift));
  llvm::Value* n = b_.CreateFSub(shifted, constant(shift));
  llvm::Value* r = Fma(n, constant(-0.693359375), clamped);
  r = Fma(n, constant(2.12194440e-4), r);
  llvm::Value* y = Polynomial(
      r, {1.9875691500E-4, 1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2,
          1.6666665459E-1, 5.0000001201E-1, 1.0, 1.0});
  if (scalef) return Scalef(y, n);
  // NaN has zeros in the low bits of its sum, and stays NaN.
  llvm::Value* exponent = b_.CreateShl(b_.CreateBitCast(shifted, int_type), 23);
  y = b_.CreateBitCast(b_.CreateAdd(b_.CreateBitCast(y, int_type), exponent),
                       type);
  y = b_.CreateSelect(low, constant(0.0), y);
  return b_.CreateSelect(b_.CreateFCmpOGT(x, most),
                         constant(std::numeric_limits<double>::infinity()), y);
}

// x = 2^e m with m in [sqrt(1/2), sqrt(2)).
llvm::Value* Emitter::LogF32(llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* int_type = type->getWithNewType(b_.getInt32Ty());
  auto constant = [&](double value) { return Splat(value, type); };
  auto integer = [&](int64_t value) {
    return llvm::ConstantInt::get(int_type, value);
  };
  llvm::Value* tiny = b_.CreateFCmpOLT(x, constant(1.17549435e-38));
  llvm::Value* scaled =
      b_.CreateSelect(tiny, b_.CreateFMul(x, constant(8388608.0)), x);
  llvm::Value* bits = b_.CreateBitCast(scaled, int_type);
  llvm::Value* e = b_.CreateSub(b_.CreateLShr(bits, 23), integer(126));
  e = b_.CreateSub(e, b_.CreateSelect(tiny, integer(23), integer(0)));
  llvm::Value* m = b_.CreateBitCast(
      b_.CreateOr(b_.CreateAnd(bits, integer(0x007fffff)), integer(0x3f000000)),
      type);
  llvm::Value* below = b_.CreateFCmpOLT(m, constant(0.707106781186547524));
  llvm::Value* ef = b_.CreateSIToFP(e, type);
  ef = b_.CreateSelect(below, b_.CreateFSub(ef, constant(1.0)), ef);
  m = b_.CreateFSub(b_.CreateSelect(below, b_.CreateFAdd(m, m), m),
                    constant(1.0));
  llvm::Value* z = b_.CreateFMul(m, m);
  llvm::Value* p =
      Polynomial(m, {7.0376836292E-2, -1.1514610310E-1, 1.1676998740E-1,
                     -1.2420140846E-1, 1.4249322787E-1, -1.6668057665E-1,
                     2.0000714765E-1, -2.4999993993E-1, 3.3333331174E-1});
  llvm::Value* y = b_.CreateFMul(b_.CreateFMul(p, m), z);
  y = Fma(ef, constant(-2.12194440e-4), y);
  y = Fma(z, constant(-0.5), y);
  llvm::Value* result = Fma(ef, constant(0.693359375), b_.CreateFAdd(m, y));
  const double inf = std::numeric_limits<double>::infinity();
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, constant(inf)), x, result);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, constant(0.0)), constant(-inf),
                           result);
  return b_.CreateSelect(b_.CreateFCmpULT(x, constant(0.0)),
                         constant(std::nan("")), result);
}

llvm::Value* Emitter::TanhF32(llvm::Value* x) {
  llvm::Type* type = x->getType();
  auto constant = [&](double value) { return Splat(value, type); };
  const double limit = 7.90531110763549805;
  llvm::Value* c =
      b_.CreateSelect(b_.CreateFCmpOGT(x, constant(limit)), constant(limit), x);
  c = b_.CreateSelect(b_.CreateFCmpOLT(c, constant(-limit)), constant(-limit),
                      c);
  llvm::Value* z = b_.CreateFMul(c, c);
  llvm::Value* p = Polynomial(
      z, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
          5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04,
          4.89352455891786e-03});
  llvm::Value* q = Polynomial(z, {1.19825839466702e-06, 1.18534705686654e-04,
                                  2.26843463243900e-03, 4.89352518554385e-03});
  llvm::Value* ratio = b_.CreateFDiv(b_.CreateFMul(c, p), q);
  llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, constant(0.0004)), x,
                         ratio);
}

llvm::Value* Emitter::ErfF32(llvm::Value* x) {
  llvm::Type* type = x->getType();
  auto constant = [&](double value) { return Splat(value, type); };
  llvm::Value* a = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  llvm::Value* t =
      b_.CreateFDiv(constant(1.0), Fma(a, constant(0.3275911), constant(1.0)));
  llvm::Value* p =
      b_.CreateFMul(t, Polynomial(t, {1.061405429, -1.453152027, 1.421413741,
                                      -0.284496736, 0.254829592}));
  llvm::Value* e = ExpF32(b_.CreateFNeg(b_.CreateFMul(a, a)));
  llvm::Value* y = b_.CreateFSub(constant(1.0), b_.CreateFMul(p, e));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, y, x);
}

llvm::Value* Emitter::EmitIntrinsic(unsigned id, const CallNode& call) {
  std::vector<llvm::Value*> args;
  for (const Expr& arg : call.args) args.push_back(Emit(arg));
  return b_.CreateIntrinsic(id, {args[0]->getType()}, args);
}

// libm in the width of the type (16-bit floats through float32), lane by lane.
llvm::Value* Emitter::EmitLibm(const CallNode& call, const char* name) {
  const bool is_double = call.dtype.bits() == 64;
  llvm::Type* scalar = is_double ? b_.getDoubleTy() : b_.getFloatTy();
  std::vector<llvm::Value*> args;
  for (const Expr& arg : call.args) {
    llvm::Value* value = Emit(arg);
    args.push_back(
        b_.CreateFPCast(value, value->getType()->getWithNewType(scalar)));
  }
  auto* type = llvm::FunctionType::get(
      scalar, std::vector<llvm::Type*>(args.size(), scalar), false);
  llvm::FunctionCallee callee = module_->getOrInsertFunction(
      absl::StrCat(name, is_double ? "" : "f"), type);
  const int lanes = call.dtype.lanes();
  if (lanes == 1) {
    return b_.CreateFPCast(b_.CreateCall(callee, args), TypeOf(call.dtype));
  }
  llvm::Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<llvm::Value*> lane_args;
    for (llvm::Value* arg : args) {
      lane_args.push_back(b_.CreateExtractElement(arg, lane));
    }
    result =
        b_.CreateInsertElement(result, b_.CreateCall(callee, lane_args), lane);
  }
  return b_.CreateFPCast(result, TypeOf(call.dtype));
}

// Null for functions without a polynomial.
llvm::Value* Emitter::MathF32(const CallNode& call, llvm::Value* x) {
  switch (call.op) {
    case Intrinsic::kExp:
      return ExpF32(x);
    case Intrinsic::kLog:
      return LogF32(x);
    case Intrinsic::kTanh:
      return TanhF32(x);
    case Intrinsic::kErf:
      return ErfF32(x);
    default: {  // kSigmoid
      llvm::Value* one = Splat(1.0, x->getType());
      return b_.CreateFDiv(one, b_.CreateFAdd(one, ExpF32(b_.CreateFNeg(x))));
    }
  }
}

namespace {

bool HasPolynomial(Intrinsic op) {
  return op == Intrinsic::kExp || op == Intrinsic::kLog ||
         op == Intrinsic::kTanh || op == Intrinsic::kErf ||
         op == Intrinsic::kSigmoid;
}

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

}  // namespace

llvm::Value* Emitter::EmitSigmoid(const CallNode& call, llvm::Type* type) {
  CallNode exp(
      call.dtype, Intrinsic::kExp,
      {Binary(ExprKind::kSub,
              Cast(call.dtype, Broadcast(Float(0, call.dtype.Element()),
                                         call.dtype.lanes())),
              call.args[0])});
  llvm::Value* one = Splat(1.0, type);
  return b_.CreateFDiv(one, b_.CreateFAdd(one, EmitLibm(exp, "exp")));
}

// What has neither a polynomial nor an operation nor a function of its own, on
// the float `x`; null for other calls.
llvm::Value* Emitter::EmitFloatMath(const CallNode& call, llvm::Value* x) {
  auto magnitude = [&] {
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  };
  auto infinity = [&] { return llvm::ConstantFP::getInfinity(x->getType()); };
  switch (call.op) {
    case Intrinsic::kAbs:
      return magnitude();
    case Intrinsic::kRsqrt:
      return b_.CreateFDiv(Splat(1.0, x->getType()),
                           b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case Intrinsic::kSigmoid:
      return EmitWideSigmoid(call, x->getType());
    case Intrinsic::kIsNan:
      return b_.CreateFCmpUNO(x, x);
    case Intrinsic::kIsInf:
      return b_.CreateFCmpOEQ(magnitude(), infinity());
    case Intrinsic::kIsFinite:
      return b_.CreateFCmpOLT(magnitude(), infinity());
    default:
      return nullptr;
  }
}

// 1 / (1 + exp(-x)) in another width than f32.
llvm::Value* Emitter::EmitWideSigmoid(const CallNode& call, llvm::Type* type) {
  const Expr zero = Cast(call.dtype, Broadcast(Float(0, call.dtype.Element()),
                                               call.dtype.lanes()));
  const CallNode exp(call.dtype, Intrinsic::kExp,
                     {Binary(ExprKind::kSub, zero, call.args[0])});
  llvm::Value* one = Splat(1.0, type);
  return b_.CreateFDiv(one, b_.CreateFAdd(one, EmitLibm(exp, "exp")));
}

llvm::Value* Emitter::EmitMath(const CallNode& call) {
  if (call.op == Intrinsic::kAbs && !call.dtype.is_float()) {
    llvm::Value* x = Emit(call.args[0]);
    if (!call.dtype.is_int()) return x;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse());
  }
  const DType element =
      call.args.empty() ? DType::Void() : call.args[0].dtype().Element();
  if (element.is_float()) {
    if (element.bits() == 32 && HasPolynomial(call.op)) {
      return MathF32(call, Emit(call.args[0]));
    }
    if (const auto id = LlvmIntrinsic(call.op)) return EmitIntrinsic(id, call);
    if (const char* name = LibmName(call.op)) return EmitLibm(call, name);
    if (llvm::Value* value = EmitFloatMath(call, Emit(call.args[0]))) {
      return value;
    }
  }
  return Fail(absl::UnimplementedError(absl::StrCat(
                  "T.", std::string(GetIntrinsicInfo(call.op).name), " on ",
                  element.ToString(), " cannot be compiled for a CPU")),
              call.dtype);
}

}  // namespace kiln::codegen_internal
