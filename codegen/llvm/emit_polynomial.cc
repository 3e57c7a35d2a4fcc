// Elementary functions of float32 as polynomials, for vectors of any length.
// Errors are those of docs/numerics.md, the same in all modes: what is rounded
// once or twice does not depend on them.
//   exp      Cephes' expf: degree 5 after reduction by ln 2
//   log      Cephes' logf: degree 8 on [sqrt(1/2), sqrt(2))
//   tanh     the 13/6 rational of Eigen
//   erf      a rational of the same kind, of degrees 13 and 10, fitted to the
//            least relative error up to 3.95
//   sigmoid  by exp(-|x|), which does not overflow
#include <cmath>
#include <limits>
#include <vector>

#include "kiln/codegen/llvm/emitter.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen_internal {
namespace {

constexpr int kScalefLanes = 16;
constexpr double kShift = 12582912.0;  // 1.5 * 2^23
constexpr int kExponentBias = 127;

}  // namespace

llvm::Value* Emitter::Splat(double value, llvm::Type* like) {
  return llvm::ConstantFP::get(like, value);
}

// Rounded once where the machine can, whatever the mode.
llvm::Value* Emitter::Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  if (!target_.fma) return b_.CreateFAdd(b_.CreateFMul(a, b), c);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
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
         target_.machine.vectors == kAvx512Registers &&
         llvm::Triple(target_.triple).isX86();
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

// NaN stays NaN.
llvm::Value* Emitter::Clamp(llvm::Value* x, double least, double most) {
  llvm::Value* low = Splat(least, x->getType());
  llvm::Value* high = Splat(most, x->getType());
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, low), low, x);
  return b_.CreateSelect(b_.CreateFCmpOGT(x, high), high, x);
}

// x = n ln 2 + r, |r| <= ln 2 / 2; e^x = 2^n (1 + r (1 + r p(r))). The sum of
// 1.5 * 2^23 and a small number is rounded to an integer, which stands in its
// low bits: `bias` + n.
Emitter::ReducedExp Emitter::ReduceExp(llvm::Value* x, int bias) {
  llvm::Type* type = x->getType();
  auto constant = [&](double value) { return Splat(value, type); };
  ReducedExp e;
  llvm::Value* shifted =
      Fma(x, constant(1.44269504088896341), constant(kShift + bias));
  e.n = b_.CreateFSub(shifted, constant(kShift + bias));
  llvm::Value* r = Fma(e.n, constant(-0.693359375), x);
  r = Fma(e.n, constant(2.12194440e-4), r);
  e.y = Polynomial(
      r, {1.9875691500E-4, 1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2,
          1.6666665459E-1, 5.0000001201E-1, 1.0, 1.0});
  e.bits = b_.CreateBitCast(shifted, type->getWithNewType(b_.getInt32Ty()));
  return e;
}

// 2^(m - 127) where m, from 1 to 254, stands in the low bits of `bits`: those
// above are shifted out.
llvm::Value* Emitter::PowerOfTwo(llvm::Value* bits, llvm::Type* type) {
  return b_.CreateBitCast(b_.CreateShl(bits, 23), type);
}

// 2^n y by two powers, each a normal number, so that the last product rounds to
// what is too small or too large.
llvm::Value* Emitter::ExpF32(llvm::Value* x) {
  // Beyond these limits the result is 0 or inf.
  const ReducedExp e = ReduceExp(Clamp(x, -104, 89), 2 * kExponentBias);
  llvm::Type* type = x->getType();
  if (HasScalef(type)) return Scalef(e.y, e.n);
  llvm::Value* half = b_.CreateLShr(e.bits, 1);
  return b_.CreateFMul(b_.CreateFMul(e.y, PowerOfTwo(half, type)),
                       PowerOfTwo(b_.CreateSub(e.bits, half), type));
}

// Of numbers up to 0: one power is enough, 2^64 times as large as it is to be.
llvm::Value* Emitter::ExpOfNegative(llvm::Value* x) {
  constexpr int kLift = 64;
  llvm::Type* type = x->getType();
  llvm::Value* least = Splat(-104, type);
  const ReducedExp e =
      ReduceExp(b_.CreateSelect(b_.CreateFCmpOLT(x, least), least, x),
                kExponentBias + kLift);
  if (HasScalef(type)) return Scalef(e.y, e.n);
  return b_.CreateFMul(b_.CreateFMul(e.y, PowerOfTwo(e.bits, type)),
                       Splat(std::ldexp(1.0, -kLift), type));
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
  llvm::Value* c = Clamp(x, -limit, limit);
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

// At 4.3 and beyond the quotient is more than 1.
llvm::Value* Emitter::ErfF32(llvm::Value* x) {
  llvm::Value* c = Clamp(x, -4.3, 4.3);
  llvm::Value* z = b_.CreateFMul(c, c);
  llvm::Value* p = Polynomial(
      z, {-1.2967301898925143e-08, 4.640485713025555e-06,
          0.00037793847150169313, 0.003843363607302308, 0.054274771362543106,
          0.18516875803470612, 1.128379225730896});
  llvm::Value* q = Polynomial(
      z, {6.26929831923917e-05, 0.0013040633639320731, 0.0154437106102705,
          0.11391091346740723, 0.49743494391441345, 1.0});
  return Clamp(b_.CreateFDiv(b_.CreateFMul(c, p), q), -1, 1);
}

llvm::Value* Emitter::MinusMagnitude(llvm::Value* x) {
  return b_.CreateFNeg(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
}

// `e` is exp(-|x|), in the type of x.
llvm::Value* Emitter::SigmoidOf(llvm::Value* x, llvm::Value* e) {
  llvm::Value* one = Splat(1.0, x->getType());
  llvm::Value* negative = b_.CreateFCmpOLT(x, Splat(0.0, x->getType()));
  return b_.CreateFDiv(b_.CreateSelect(negative, e, one),
                       b_.CreateFAdd(one, e));
}

// Null for functions without a polynomial.
llvm::Value* Emitter::EmitPolynomial(Intrinsic op, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
  b_.clearFastMathFlags();
  switch (op) {
    case Intrinsic::kExp:
      return ExpF32(x);
    case Intrinsic::kLog:
      return LogF32(x);
    case Intrinsic::kTanh:
      return TanhF32(x);
    case Intrinsic::kErf:
      return ErfF32(x);
    case Intrinsic::kSigmoid:
      return SigmoidOf(x, ExpOfNegative(MinusMagnitude(x)));
    default:
      return nullptr;
  }
}

}  // namespace kiln::codegen_internal
