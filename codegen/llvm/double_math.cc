#include "kiln/codegen/llvm/double_math.h"

// Functions of float32 in the arithmetic of float64. Its 29 further bits absorb
// what a float32 formula has to guard against: a reduction by pi / 2 needs two
// parts of it and no more, a product y log2(x) is precise enough for pow,
// squares neither overflow nor vanish, and powers of two are normal numbers
// wherever the result is not 0 or infinity. So each function is its textbook
// identity over four polynomials, and one rounding:
//
//   T.atan2(y, x)   →   fptrunc(AtanOfQuotient(|fpext(y)|, |fpext(x)|)), with
//                       the quadrant by the signs of x and y
//
// Arguments that a formula does not hold for (|x| > 2^20 for sin, infinite ones
// of pow) are rare. A vector that has one takes a branch in which libm computes
// those lanes.
//
// The polynomials are minimax ones for the relative error (Remez exchange):
//   2^r             on [-1/2, 1/2], 2^-34.5
//   log(1 + t) / t  on [sqrt(1/2) - 1, sqrt(2) - 1], 2^-35.8
//   sin(r) / r, cos(r) in r^2 on [0, pi / 4], 2^-37.7 and 2^-34.1
//   atan(t) / t in t^2 on [0, 1], 2^-36.6
//   sinh(x) / x in x^2 on [0, 1], 2^-34.3
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"

namespace kiln::codegen_internal {
namespace {

using llvm::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
constexpr int kMantissaBits = 52;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kLn2 = 0.69314718055994531;
constexpr double kPi = 3.1415926535897932;
// pi / 2 in two parts: the products of the first with numbers below 2^20 are
// exact, as it has 33 bits (fdlibm, e_rem_pio2.c).
constexpr double kHalfPiHigh = 1.57079632673412561417;
constexpr double kHalfPiLow = 6.07710050650619224932e-11;
constexpr double kMostReduced = 1048576;  // 2^20
// Powers of two beyond these are 0 or infinite in float32.
constexpr double kLeastPower = -160;
constexpr double kMostPower = 140;
// Quotients below are exact products with a float32.
constexpr double kMostQuotient = 268435456;  // 2^28
constexpr double kMostFactors = 8;

bool IsSmallWhole(double y) {
  return std::fabs(y) <= kMostFactors && y == std::trunc(y);
}

// The one constant of all lanes.
std::optional<double> Known(Value* x) {
  const llvm::APFloat* known = nullptr;
  return llvm::PatternMatch::match(x, llvm::PatternMatch::m_APFloat(known))
             ? std::optional<double>(known->convertToDouble())
             : std::nullopt;
}

class DoubleMath {
 public:
  DoubleMath(llvm::IRBuilder<>& b, bool fma, llvm::Type* type)
      : b_(b),
        fma_(fma),
        type_(type),
        int_type_(type->getWithNewType(b.getInt64Ty())) {}

  // Null where there is no formula. Arguments and result are of float64.
  Value* Of(Intrinsic op, Value* x);
  Value* Of(Intrinsic op, Value* x, Value* y);

  // Lanes that the formula of `op` does not hold for; null if it always does.
  Value* Beyond(Intrinsic op, Value* x);
  Value* Beyond(Intrinsic op, Value* x, Value* y);

 private:
  struct Quadrant {
    Value* rest;   // in [-pi / 4, pi / 4]
    Value* index;  // of int64, in its low bits
  };

  Value* Exp2(Value* x);
  Value* Log1p(Value* t);
  Value* LogOf(Value* u, Value* t);
  Value* Log(Value* x) { return LogOf(x, Sub(x, Number(1))); }
  Quadrant Reduce(Value* x);
  Value* SinOf(const Quadrant& at, Value* index);
  Value* Tan(Value* x);
  Value* AtanOfQuotient(Value* y, Value* x);
  Value* Atan2(Value* y, Value* x);
  Value* Sinh(Value* x);
  Value* Cosh(Value* x);
  Value* Asinh(Value* x);
  Value* Pow(Value* x, Value* y);
  Value* KnownPower(Value* x, double y);
  Value* Fmod(Value* x, Value* y);
  Value* Hypot(Value* x, Value* y);

  Value* Number(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Whole(int64_t value) {
    return llvm::ConstantInt::getSigned(int_type_, value);
  }
  Value* Add(Value* x, Value* y) { return b_.CreateFAdd(x, y); }
  Value* Sub(Value* x, Value* y) { return b_.CreateFSub(x, y); }
  Value* Mul(Value* x, Value* y) { return b_.CreateFMul(x, y); }
  Value* Div(Value* x, Value* y) { return b_.CreateFDiv(x, y); }
  Value* Fma(Value* x, Value* y, Value* z);
  Value* Polynomial(Value* x, std::initializer_list<double> high_first);
  Value* Select(Value* condition, Value* x, Value* y) {
    return b_.CreateSelect(condition, x, y);
  }
  Value* Unary(llvm::Intrinsic::ID id, Value* x) {
    return b_.CreateUnaryIntrinsic(id, x);
  }
  Value* Abs(Value* x) { return Unary(llvm::Intrinsic::fabs, x); }
  Value* Sqrt(Value* x) { return Unary(llvm::Intrinsic::sqrt, x); }
  Value* Trunc(Value* x) { return Unary(llvm::Intrinsic::trunc, x); }
  Value* WithSignOf(Value* x, Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  }
  Value* Bits(Value* x) { return b_.CreateBitCast(x, int_type_); }
  Value* FromBits(Value* bits) { return b_.CreateBitCast(bits, type_); }
  Value* IsSigned(Value* x) { return b_.CreateICmpSLT(Bits(x), Whole(0)); }
  Value* IsBit(Value* bits, int64_t bit) {
    return b_.CreateIsNotNull(b_.CreateAnd(bits, Whole(bit)));
  }

  llvm::IRBuilder<>& b_;
  bool fma_;
  llvm::Type* type_;
  llvm::Type* int_type_;
};

Value* DoubleMath::Fma(Value* x, Value* y, Value* z) {
  if (!fma_) return Add(Mul(x, y), z);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
}

Value* DoubleMath::Polynomial(Value* x,
                              std::initializer_list<double> high_first) {
  Value* sum = nullptr;
  for (const double coefficient : high_first) {
    sum = sum ? Fma(sum, x, Number(coefficient)) : Number(coefficient);
  }
  return sum;
}

// 2^x = 2^n 2^r, n the nearest integer: the sum of x and 1.5 * 2^52 is rounded
// to it and has it in its low bits, which are added to the exponent of 2^r. NaN
// stays NaN.
Value* DoubleMath::Exp2(Value* x) {
  x = Select(b_.CreateFCmpOLT(x, Number(kLeastPower)), Number(kLeastPower), x);
  x = Select(b_.CreateFCmpOGT(x, Number(kMostPower)), Number(kMostPower), x);
  Value* shifted = Add(x, Number(kShift));
  Value* r = Sub(x, Sub(shifted, Number(kShift)));
  Value* y = Polynomial(
      r, {1.5201922955057141e-5, 0.00015469291197930886, 0.0013333922558724263,
          0.0096180272540834544, 0.055504103534557725, 0.24022651198144169,
          0.69314718072843934, 0.99999999996168515});
  return FromBits(
      b_.CreateAdd(Bits(y), b_.CreateShl(Bits(shifted), kMantissaBits)));
}

// log(u) of u = 2^e m, m in [sqrt(1/2), sqrt(2)); where e is 0, t is u - 1
// before u was rounded. The exponent of u / sqrt(1/2) is e, which becomes a
// float64 as the low bits of 2^52.
Value* DoubleMath::LogOf(Value* u, Value* t) {
  const int64_t half_root = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  const int64_t two_to_52 = 0x4330000000000000;
  const int64_t bias = 1023;
  Value* from_root = b_.CreateSub(Bits(u), Whole(half_root - (bias << 52)));
  Value* biased = b_.CreateLShr(from_root, kMantissaBits);
  Value* e = Sub(FromBits(b_.CreateOr(biased, Whole(two_to_52))),
                 Number(std::ldexp(1.0, kMantissaBits) + bias));
  Value* exponent =
      b_.CreateShl(b_.CreateSub(biased, Whole(bias)), kMantissaBits);
  Value* m = FromBits(b_.CreateSub(Bits(u), exponent));
  Value* is_near = b_.CreateFCmpOEQ(e, Number(0));
  t = Select(is_near, t, Sub(m, Number(1)));
  Value* p = Polynomial(
      t, {0.053629351041291505, -0.09900893195893276, 0.10033196784696554,
          -0.099228438156473678, 0.11005083272038788, -0.12497485831041431,
          0.1429098699759704, -0.16666943361607844, 0.19999881142585305,
          -0.24999994081165126, 0.33333334333745817, -0.50000000029406865,
          0.99999999998595833});
  Value* of_m = Mul(t, p);
  Value* log = Select(is_near, of_m, Fma(e, Number(kLn2), of_m));
  log = Select(b_.CreateFCmpOEQ(u, Number(kInfinity)), u, log);
  log = Select(b_.CreateFCmpOEQ(u, Number(0)), Number(-kInfinity), log);
  return Select(b_.CreateFCmpULT(u, Number(0)), Number(std::nan("")), log);
}

Value* DoubleMath::Log1p(Value* t) { return LogOf(Add(t, Number(1)), t); }

DoubleMath::Quadrant DoubleMath::Reduce(Value* x) {
  Value* shifted = Fma(x, Number(2 / kPi), Number(kShift));
  Value* n = Sub(shifted, Number(kShift));
  Value* rest = Fma(n, Number(-kHalfPiHigh), x);
  return {Fma(n, Number(-kHalfPiLow), rest), Bits(shifted)};
}

// The sine of rest + index pi / 2: the first of its four quarters is sin, the
// next cos, and two later the sign is the other.
Value* DoubleMath::SinOf(const Quadrant& at, Value* index) {
  Value* z = Mul(at.rest, at.rest);
  Value* sin =
      Mul(at.rest, Polynomial(z, {2.7171489579070749e-6,
                                  -0.00019839177937245495, 0.008333328688756995,
                                  -0.16666666630431677, 0.99999999999544808}));
  Value* cos = Polynomial(
      z, {2.4372635740111405e-5, -0.0013886528666846424, 0.041666613217094654,
          -0.49999999571381102, 0.99999999994390861});
  Value* sign = b_.CreateShl(b_.CreateAnd(index, Whole(2)), 62);
  Value* value = Select(IsBit(index, 1), cos, sin);
  return FromBits(b_.CreateXor(Bits(value), sign));
}

Value* DoubleMath::Tan(Value* x) {
  const Quadrant at = Reduce(x);
  return Div(SinOf(at, at.index), SinOf(at, b_.CreateAdd(at.index, Whole(1))));
}

// atan(y / x) of numbers from 0 on, in [0, pi / 2].
Value* DoubleMath::AtanOfQuotient(Value* y, Value* x) {
  Value* is_steep = b_.CreateFCmpOGT(y, x);
  Value* t = Div(Select(is_steep, x, y), Select(is_steep, y, x));
  Value* z = Mul(t, t);
  Value* angle = Mul(
      t,
      Polynomial(
          z, {0.00043295798871509145, -0.0032782995886979207,
              0.011646616507391876, -0.0263386298319433, 0.043967272360400852,
              -0.060426360960805891, 0.075039630537758989,
              -0.090516205061066472, 0.11105741754683441, -0.14285271440966976,
              0.19999980837850787, -0.33333333005329074, 0.9999999999906538}));
  return Select(is_steep, Sub(Number(kPi / 2), angle), angle);
}

// Of two zeros the quotient counts as 0, of two infinities as 1.
Value* DoubleMath::Atan2(Value* y, Value* x) {
  Value* height = Abs(y);
  Value* width = Abs(x);
  Value* is_nothing = b_.CreateFCmpOEQ(height, Number(0));
  Value* are_equal = b_.CreateFCmpOEQ(height, width);
  height = Select(b_.CreateAnd(are_equal, b_.CreateNot(is_nothing)), Number(1),
                  height);
  width = Select(are_equal, Number(1), width);
  Value* angle = AtanOfQuotient(height, width);
  angle = Select(IsSigned(x), Sub(Number(kPi), angle), angle);
  return WithSignOf(angle, y);
}

Value* DoubleMath::Sinh(Value* x) {
  Value* magnitude = Abs(x);
  Value* exp = Exp2(Mul(magnitude, Number(kLog2E)));
  Value* far = Mul(Sub(exp, Div(Number(1), exp)), Number(0.5));
  Value* near =
      Mul(magnitude,
          Polynomial(Mul(x, x), {2.8185239445789462e-6, 0.00019835812447034713,
                                 0.0083333525929118017, 0.16666666430246709,
                                 1.0000000000459763}));
  return WithSignOf(Select(b_.CreateFCmpOLT(magnitude, Number(1)), near, far),
                    x);
}

Value* DoubleMath::Cosh(Value* x) {
  Value* exp = Exp2(Mul(x, Number(kLog2E)));
  return Mul(Add(exp, Div(Number(1), exp)), Number(0.5));
}

// log(|x| + sqrt(x^2 + 1)).
Value* DoubleMath::Asinh(Value* x) {
  Value* magnitude = Abs(x);
  Value* square = Mul(x, x);
  Value* root = Sqrt(Add(square, Number(1)));
  Value* t = Add(magnitude, Div(square, Add(root, Number(1))));
  t = Select(b_.CreateFCmpOEQ(magnitude, Number(kInfinity)), magnitude, t);
  return WithSignOf(Log1p(t), x);
}

// x^y of small whole y and of halves, which programs write as constants; else
// null. What is too large or too small for float64 is so for float32. The sum
// with 0 makes 0 of -0, whose root is 0.
Value* DoubleMath::KnownPower(Value* x, double y) {
  Value* power = Number(1);
  if (std::fabs(y) == 0.5) {
    power = Sqrt(Add(x, Number(0)));
  } else if (IsSmallWhole(y)) {
    for (int i = 0; i < std::fabs(y); ++i) power = Mul(power, x);
  } else {
    return nullptr;
  }
  return y < 0 ? Div(Number(1), power) : power;
}

// 2^(y log2 |x|), negative of negative x where y is odd. Powers of 0 are as
// those of a number so small that its logarithm leaves the range.
Value* DoubleMath::Pow(Value* x, Value* y) {
  if (const std::optional<double> known = Known(y)) {
    if (Value* power = KnownPower(x, *known)) return power;
  }
  Value* magnitude = Abs(x);
  Value* log = Mul(Log(magnitude), Number(kLog2E));
  log = Select(b_.CreateFCmpOEQ(x, Number(0)), Number(-1e60), log);
  Value* power = Exp2(Mul(y, log));
  Value* half = Mul(y, Number(0.5));
  Value* is_whole = b_.CreateFCmpOEQ(y, Trunc(y));
  Value* is_odd = b_.CreateAnd(is_whole, b_.CreateFCmpONE(half, Trunc(half)));
  Value* is_undefined =
      b_.CreateAnd(b_.CreateFCmpOLT(x, Number(0)), b_.CreateNot(is_whole));
  power = Select(is_odd, WithSignOf(power, x), power);
  return Select(is_undefined, Number(std::nan("")), power);
}

// A quotient that is rounded up to an integer is one too large.
Value* DoubleMath::Fmod(Value* x, Value* y) {
  Value* dividend = Abs(x);
  Value* divisor = Abs(y);
  Value* quotient = Trunc(Div(dividend, divisor));
  Value* rest = Fma(b_.CreateFNeg(quotient), divisor, dividend);
  rest = Select(b_.CreateFCmpOLT(rest, Number(0)), Add(rest, divisor), rest);
  Value* is_smaller = b_.CreateFCmpOEQ(quotient, Number(0));
  return WithSignOf(Select(is_smaller, dividend, rest), x);
}

Value* DoubleMath::Hypot(Value* x, Value* y) {
  Value* infinity = Number(kInfinity);
  Value* is_infinite = b_.CreateOr(b_.CreateFCmpOEQ(Abs(x), infinity),
                                   b_.CreateFCmpOEQ(Abs(y), infinity));
  Value* root = Sqrt(Fma(x, x, Mul(y, y)));
  return Select(is_infinite, infinity, root);
}

Value* DoubleMath::Of(Intrinsic op, Value* x) {
  Value* one = Number(1);
  switch (op) {
    case Intrinsic::kExp2:
      return Exp2(x);
    case Intrinsic::kExp10:
      return Exp2(Mul(x, Number(3.3219280948873623)));
    case Intrinsic::kLog2:
      return Mul(Log(x), Number(kLog2E));
    case Intrinsic::kLog10:
      return Mul(Log(x), Number(0.43429448190325183));
    case Intrinsic::kLog1p:
      return Log1p(x);
    case Intrinsic::kSin: {
      const Quadrant at = Reduce(x);
      return SinOf(at, at.index);
    }
    case Intrinsic::kCos: {
      const Quadrant at = Reduce(x);
      return SinOf(at, b_.CreateAdd(at.index, Whole(1)));
    }
    case Intrinsic::kTan:
      return Tan(x);
    case Intrinsic::kSinh:
      return Sinh(x);
    case Intrinsic::kCosh:
      return Cosh(x);
    case Intrinsic::kAtan:
      return WithSignOf(AtanOfQuotient(Abs(x), one), x);
    case Intrinsic::kAsin: {
      Value* sine = Abs(x);
      Value* cosine = Sqrt(Mul(Sub(one, sine), Add(one, sine)));
      return WithSignOf(AtanOfQuotient(sine, cosine), x);
    }
    case Intrinsic::kAcos: {
      Value* cosine = Abs(x);
      Value* sine = Sqrt(Mul(Sub(one, cosine), Add(one, cosine)));
      Value* angle = AtanOfQuotient(sine, cosine);
      return Select(b_.CreateFCmpOLT(x, Number(0)), Sub(Number(kPi), angle),
                    angle);
    }
    case Intrinsic::kAsinh:
      return Asinh(x);
    case Intrinsic::kAcosh: {
      Value* above = Sub(x, one);
      return Log1p(Add(above, Mul(Sqrt(above), Sqrt(Add(x, one)))));
    }
    case Intrinsic::kAtanh: {
      Value* magnitude = Abs(x);
      Value* t = Div(Add(magnitude, magnitude), Sub(one, magnitude));
      return WithSignOf(Mul(Log1p(t), Number(0.5)), x);
    }
    default:
      return nullptr;
  }
}

Value* DoubleMath::Of(Intrinsic op, Value* x, Value* y) {
  switch (op) {
    case Intrinsic::kAtan2:
      return Atan2(x, y);
    case Intrinsic::kPow:
      return Pow(x, y);
    case Intrinsic::kFmod:
      return Fmod(x, y);
    case Intrinsic::kHypot:
      return Hypot(x, y);
    default:
      return nullptr;
  }
}

// NaN is beyond every limit.
Value* DoubleMath::Beyond(Intrinsic op, Value* x) {
  if (op != Intrinsic::kSin && op != Intrinsic::kCos && op != Intrinsic::kTan) {
    return nullptr;
  }
  return b_.CreateFCmpUGT(Abs(x), Number(kMostReduced));
}

Value* DoubleMath::Beyond(Intrinsic op, Value* x, Value* y) {
  if (op == Intrinsic::kPow) {
    const std::optional<double> known = Known(y);
    if (known && IsSmallWhole(*known)) return nullptr;
    Value* infinity = Number(kInfinity);
    return b_.CreateOr(b_.CreateFCmpUGE(Abs(x), infinity),
                       b_.CreateFCmpUGE(Abs(y), infinity));
  }
  if (op != Intrinsic::kFmod) return nullptr;
  return b_.CreateFCmpUGE(Div(Abs(x), Abs(y)), Number(kMostQuotient));
}

// `value`, and in the lanes of `beyond` that of `other`, so that no lane
// depends on its neighbours.
Value* Unless(llvm::IRBuilder<>& b, Value* beyond, Value* value,
              absl::FunctionRef<Value*()> other) {
  Value* any =
      beyond->getType()->isVectorTy() ? b.CreateOrReduce(beyond) : beyond;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::LLVMContext& context = b.getContext();
  auto* rare = llvm::BasicBlock::Create(context, "beyond", before->getParent());
  auto* after =
      llvm::BasicBlock::Create(context, "within", before->getParent());
  b.CreateCondBr(any, rare, after,
                 llvm::MDBuilder(context).createUnlikelyBranchWeights());
  b.SetInsertPoint(rare);
  Value* exact = b.CreateSelect(beyond, other(), value);
  rare = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* either = b.CreatePHI(value->getType(), 2);
  either->addIncoming(value, before);
  either->addIncoming(exact, rare);
  return either;
}

}  // namespace

Value* EmitInDouble(llvm::IRBuilder<>& b, bool fma, Intrinsic op,
                    absl::Span<Value* const> args,
                    absl::FunctionRef<Value*()> libm) {
  llvm::Type* type = args[0]->getType();
  llvm::Type* wide = type->getWithNewType(b.getDoubleTy());
  DoubleMath math(b, fma, wide);
  Value* x = b.CreateFPExt(args[0], wide);
  Value* y = args.size() > 1 ? b.CreateFPExt(args[1], wide) : nullptr;
  Value* value = y ? math.Of(op, x, y) : math.Of(op, x);
  if (!value) return nullptr;
  value = b.CreateFPTrunc(value, type);
  Value* beyond = y ? math.Beyond(op, x, y) : math.Beyond(op, x);
  return beyond ? Unless(b, beyond, value, libm) : value;
}

}  // namespace kiln::codegen_internal
