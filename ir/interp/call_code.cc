// Each family of intrinsics is a class; CompileCall picks it by the intrinsic
// and the types of the operands. A float of any width is computed as a double,
// which is rounded once to its type; an integer is computed on its bits and
// wrapped:
//
//   T.sqrt(x), float16, x = 2     UnaryCall: 1.41421356..., rounded: 1.4140625
//   T.popcount(x), int8, x = -1   BitCall: the low 8 bits of x, 8 of them set
//
// A function of one float is added as a row of FindUnary, of two floats as a
// row of FindBinary, any other as a class and a branch of CompileCall. A call
// without a branch is refused when the code is made, so that no run meets it.
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/interp/scope.h"
#include "kiln/ir/interp/threads.h"

namespace kiln::interp_internal {
namespace {

using RealUnary = double (*)(double);
using RealBinaryOp = double (*)(double, double);

double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sigmoid(double x) {
  const double e = std::exp(-std::fabs(x));  // does not overflow
  return (x < 0 ? e : 1) / (1 + e);
}
double Exp10(double x) { return std::pow(10.0, x); }

// The function of an intrinsic from one float to one of the same type; nullptr
// for other intrinsics.
RealUnary FindUnary(Intrinsic op) {
  static constexpr struct {
    Intrinsic op;
    RealUnary function;
  } kTable[] = {{Intrinsic::kExp, std::exp},
                {Intrinsic::kExp2, std::exp2},
                {Intrinsic::kExp10, Exp10},
                {Intrinsic::kLog, std::log},
                {Intrinsic::kLog2, std::log2},
                {Intrinsic::kLog10, std::log10},
                {Intrinsic::kLog1p, std::log1p},
                {Intrinsic::kSqrt, std::sqrt},
                {Intrinsic::kRsqrt, Rsqrt},
                {Intrinsic::kTanh, std::tanh},
                {Intrinsic::kSigmoid, Sigmoid},
                {Intrinsic::kErf, std::erf},
                {Intrinsic::kSin, std::sin},
                {Intrinsic::kCos, std::cos},
                {Intrinsic::kTan, std::tan},
                {Intrinsic::kSinh, std::sinh},
                {Intrinsic::kCosh, std::cosh},
                {Intrinsic::kAsin, std::asin},
                {Intrinsic::kAcos, std::acos},
                {Intrinsic::kAtan, std::atan},
                {Intrinsic::kAsinh, std::asinh},
                {Intrinsic::kAcosh, std::acosh},
                {Intrinsic::kAtanh, std::atanh},
                {Intrinsic::kAbs, std::fabs},
                {Intrinsic::kFloor, std::floor},
                {Intrinsic::kCeil, std::ceil},
                {Intrinsic::kTrunc, std::trunc},
                {Intrinsic::kRound, std::round},
                {Intrinsic::kNearbyint, std::nearbyint}};
  for (const auto& row : kTable) {
    if (row.op == op) return row.function;
  }
  return nullptr;
}

RealBinaryOp FindBinary(Intrinsic op) {
  if (op == Intrinsic::kPow) return std::pow;
  if (op == Intrinsic::kAtan2) return std::atan2;
  if (op == Intrinsic::kFmod) return std::fmod;
  if (op == Intrinsic::kHypot) return std::hypot;
  if (op == Intrinsic::kCopysign) return std::copysign;
  return nullptr;
}

class UnaryCall : public ExprCode {
 public:
  UnaryCall(RealUnary function, ExprPtr x, DType dtype)
      : function_(function), x_(std::move(x)), dtype_(dtype) {}
  double Real(Frame& frame, int lane) const override {
    return RoundReal(dtype_, function_(x_->Real(frame, lane)));
  }

 private:
  RealUnary function_;
  ExprPtr x_;
  DType dtype_;
};

class BinaryCall : public ExprCode {
 public:
  BinaryCall(RealBinaryOp function, ExprPtr x, ExprPtr y, DType dtype)
      : function_(function),
        x_(std::move(x)),
        y_(std::move(y)),
        dtype_(dtype) {}
  double Real(Frame& frame, int lane) const override {
    const double x = x_->Real(frame, lane);
    return RoundReal(dtype_, function_(x, y_->Real(frame, lane)));
  }

 private:
  RealBinaryOp function_;
  ExprPtr x_, y_;
  DType dtype_;
};

class FmaCall : public ExprCode {
 public:
  FmaCall(std::vector<ExprPtr> args, DType dtype)
      : args_(std::move(args)), dtype_(dtype) {}
  double Real(Frame& frame, int lane) const override {
    const double x = args_[0]->Real(frame, lane);
    const double y = args_[1]->Real(frame, lane);
    const double z = args_[2]->Real(frame, lane);
    return FusedMultiplyAdd(dtype_, x, y, z);
  }

 private:
  std::vector<ExprPtr> args_;
  DType dtype_;
};

class ClassifyCall : public ExprCode {
 public:
  ClassifyCall(Intrinsic op, ExprPtr x) : op_(op), x_(std::move(x)) {}
  int64_t Int(Frame& frame, int lane) const override {
    const double x = x_->Real(frame, lane);
    if (op_ == Intrinsic::kIsNan) return std::isnan(x);
    return op_ == Intrinsic::kIsInf ? std::isinf(x) : std::isfinite(x);
  }

 private:
  Intrinsic op_;
  ExprPtr x_;
};

bool IsBitwise(Intrinsic op) {
  return op == Intrinsic::kBitwiseAnd || op == Intrinsic::kBitwiseOr ||
         op == Intrinsic::kBitwiseXor || op == Intrinsic::kBitwiseNot ||
         op == Intrinsic::kShiftLeft || op == Intrinsic::kShiftRight ||
         op == Intrinsic::kPopcount || op == Intrinsic::kClz;
}

// Integers; `dtype` is of the operands.
class BitCall : public ExprCode {
 public:
  BitCall(Intrinsic op, std::vector<ExprPtr> args, DType dtype, DType result)
      : op_(op), args_(std::move(args)), dtype_(dtype), result_(result) {}

  int64_t Int(Frame& frame, int lane) const override {
    const int64_t x = args_[0]->Int(frame, lane);
    const int64_t y = args_.size() > 1 ? args_[1]->Int(frame, lane) : 0;
    return WrapInt(result_, Apply(x, y));
  }

 private:
  int64_t Apply(int64_t x, int64_t y) const {
    if (op_ == Intrinsic::kBitwiseAnd) return x & y;
    if (op_ == Intrinsic::kBitwiseOr) return x | y;
    if (op_ == Intrinsic::kBitwiseXor) return x ^ y;
    if (op_ == Intrinsic::kBitwiseNot) return ~x;
    if (op_ == Intrinsic::kPopcount) return std::popcount(Bits(x));
    if (op_ == Intrinsic::kClz) {
      return std::countl_zero(Bits(x)) - (64 - dtype_.bits());
    }
    return Shift(x, y);
  }

  // A shift by the width or more, or by a negative number, which counts as a
  // large one, leaves no bit but the sign.
  int64_t Shift(int64_t x, int64_t y) const {
    const bool all = y < 0 || y >= dtype_.bits();
    if (op_ == Intrinsic::kShiftLeft) {
      return all ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) << y);
    }
    if (dtype_.is_uint()) return all ? 0 : static_cast<int64_t>(Bits(x) >> y);
    return x >> (all ? 63 : y);
  }

  uint64_t Bits(int64_t x) const {
    return static_cast<uint64_t>(x) & (~uint64_t{0} >> (64 - dtype_.bits()));
  }

  Intrinsic op_;
  std::vector<ExprPtr> args_;
  DType dtype_, result_;
};

class LdexpCall : public ExprCode {
 public:
  LdexpCall(ExprPtr x, ExprPtr n, DType dtype)
      : x_(std::move(x)), n_(std::move(n)), dtype_(dtype) {}
  double Real(Frame& frame, int lane) const override {
    const double x = x_->Real(frame, lane);
    const int64_t n = n_->Int(frame, lane);
    return RoundReal(dtype_, std::ldexp(x, static_cast<int>(n)));
  }

 private:
  ExprPtr x_, n_;
  DType dtype_;
};

// Both products of fixed-point numbers.
class FixedPointCall : public ExprCode {
 public:
  FixedPointCall(Intrinsic op, std::vector<ExprPtr> args, const Place* place)
      : per_axis_(op == Intrinsic::kQMultiplyShiftPerAxis),
        args_(std::move(args)),
        place_(place) {}

  int64_t Int(Frame& frame, int lane) const override {
    std::vector<int64_t> v;
    for (const ExprPtr& arg : args_) v.push_back(arg->Int(frame, lane));
    const int64_t left =
        per_axis_ ? (v[5] ? v[2] : 0) : std::max<int64_t>(v[3], 0);
    const int64_t down = per_axis_ ? v[3] : std::max<int64_t>(-v[3], 0);
    const int64_t q = v[per_axis_ ? 4 : 2];
    for (int64_t shift : {left, down, q}) {
      if (shift >= 0 && shift <= 31) continue;
      frame.Fail(place_, absl::StatusCode::kInvalidArgument,
                 absl::StrCat("shift of a fixed-point product by ", shift));
      return 0;
    }
    __int128 product = (static_cast<__int128>(v[0]) << left) * v[1];
    const int64_t right = q + down;
    if (right > 0) product = (product + (__int128{1} << (right - 1))) >> right;
    return WrapInt(DType::Int(32), static_cast<int64_t>(product));
  }

 private:
  bool per_axis_;
  std::vector<ExprPtr> args_;
  const Place* place_;
};

class IntAbsCall : public ExprCode {
 public:
  IntAbsCall(ExprPtr x, DType dtype) : x_(std::move(x)), dtype_(dtype) {}
  int64_t Int(Frame& frame, int lane) const override {
    const uint64_t x = x_->Int(frame, lane);
    const bool negative = dtype_.is_int() && static_cast<int64_t>(x) < 0;
    return WrapInt(dtype_, static_cast<int64_t>(negative ? 0 - x : x));
  }

 private:
  ExprPtr x_;
  DType dtype_;
};

class ReinterpretCall : public ExprCode {
 public:
  ReinterpretCall(ExprPtr x, DType from, DType to)
      : x_(std::move(x)), from_(from), to_(to) {}
  int64_t Int(Frame& frame, int lane) const override {
    uint8_t bytes[8];
    Bytes(frame, lane, bytes);
    return LoadInt(to_, bytes);
  }
  double Real(Frame& frame, int lane) const override {
    uint8_t bytes[8];
    Bytes(frame, lane, bytes);
    return LoadReal(to_, bytes);
  }

 private:
  void Bytes(Frame& frame, int lane, uint8_t* out) const {
    if (from_.is_float()) {
      StoreReal(from_, x_->Real(frame, lane), out);
    } else {
      StoreInt(from_, x_->Int(frame, lane), out);
    }
  }
  ExprPtr x_;
  DType from_, to_;
};

// The sums of `count` lanes each.
class LaneSumsCall : public ExprCode {
 public:
  LaneSumsCall(ExprPtr x, int count, DType dtype)
      : x_(std::move(x)), count_(count), dtype_(dtype) {}
  int64_t Int(Frame& frame, int lane) const override {
    int64_t sum = 0;
    for (int i = 0; i < count_; ++i) {
      sum = WrapInt(dtype_, sum + x_->Int(frame, lane * count_ + i));
    }
    return sum;
  }
  double Real(Frame& frame, int lane) const override {
    double sum = x_->Real(frame, lane * count_);
    for (int i = 1; i < count_; ++i) {
      sum = RoundReal(dtype_, sum + x_->Real(frame, lane * count_ + i));
    }
    return sum;
  }

 private:
  ExprPtr x_;
  int count_;
  DType dtype_;
};

// A constant of either class.
class ConstantCall : public ExprCode {
 public:
  ConstantCall(int64_t i, double f) : i_(i), f_(f) {}
  int64_t Int(Frame&, int) const override { return i_; }
  double Real(Frame&, int) const override { return f_; }

 private:
  int64_t i_;
  double f_;
};

class AssumeCall : public ExprCode {
 public:
  AssumeCall(ExprPtr condition, const Place* place)
      : condition_(std::move(condition)), place_(place) {}
  int64_t Int(Frame& frame, int lane) const override {
    if (!condition_->Int(frame, lane)) {
      frame.Fail(place_, absl::StatusCode::kFailedPrecondition,
                 "an assumption does not hold");
    }
    return 1;
  }

 private:
  ExprPtr condition_;
  const Place* place_;
};

// Only computes where the element is.
class PrefetchCall : public ExprCode {
 public:
  explicit PrefetchCall(std::vector<ExprPtr> indices)
      : indices_(std::move(indices)) {}
  int64_t Int(Frame& frame, int lane) const override {
    for (const ExprPtr& index : indices_) index->Int(frame, lane);
    return 0;
  }

 private:
  std::vector<ExprPtr> indices_;
};

class SyncCall : public ExprCode {
 public:
  int64_t Int(Frame& frame, int) const override {
    if (frame.group) WaitAtBarrier(frame, this);
    return 0;
  }
};

ExprPtr Refuse(const CallNode& call, const std::string& why, Scope& scope) {
  scope.Fail(absl::StatusCode::kUnimplemented,
             absl::StrCat("call of ",
                          std::string(GetIntrinsicInfo(call.op).name), why));
  return std::make_unique<ConstantCall>(0, 0);
}

ExprPtr CompileBounds(const CallNode& call) {
  const DType dtype = call.dtype.Element();
  const bool low = call.op == Intrinsic::kMinValue;
  if (!dtype.is_float()) {
    return std::make_unique<ConstantCall>(
        low ? LowestInt(dtype) : HighestInt(dtype), 0);
  }
  if (call.op == Intrinsic::kInfinity) {
    return std::make_unique<ConstantCall>(
        0, std::numeric_limits<double>::infinity());
  }
  return std::make_unique<ConstantCall>(
      0, low ? LowestReal(dtype) : HighestReal(dtype));
}

ExprPtr CompileExtern(const CallNode& call, Scope& scope) {
  const auto* name =
      call.args.empty() ? nullptr : call.args[0].As<StringImmNode>();
  return Refuse(
      call,
      name ? absl::StrCat(": unknown external function \"", name->value, "\"")
           : std::string(": no interpretation"),
      scope);
}

ExprPtr CompilePrefetch(const CallNode& call, Scope& scope) {
  const LoadNode* element = PrefetchedElement(call);
  if (!element) return Refuse(call, " of what is no element", scope);
  return std::make_unique<PrefetchCall>(CompileList(element->indices, scope));
}

ExprPtr CompileReinterpret(const CallNode& call, Scope& scope) {
  const DType from = call.args[0].dtype();
  if (from.bytes() != call.dtype.bytes() ||
      from.lanes() != call.dtype.lanes()) {
    return Refuse(
        call,
        absl::StrCat(" from ", from.ToString(), " to ", call.dtype.ToString()),
        scope);
  }
  return std::make_unique<ReinterpretCall>(
      CompileExpr(call.args[0], scope), from.Element(), call.dtype.Element());
}

ExprPtr CompileIntCall(const CallNode& call, Scope& scope) {
  const DType operand = call.args[0].dtype().Element();
  const DType result = call.dtype.Element();
  if (operand.is_float() || result.is_float()) {
    return Refuse(call, absl::StrCat(" on ", operand.ToString()), scope);
  }
  if (call.op == Intrinsic::kAbs) {
    return std::make_unique<IntAbsCall>(CompileExpr(call.args[0], scope),
                                        result);
  }
  // Rounding leaves integers alone.
  if (call.op == Intrinsic::kFloor || call.op == Intrinsic::kCeil ||
      call.op == Intrinsic::kTrunc || call.op == Intrinsic::kRound ||
      call.op == Intrinsic::kNearbyint) {
    return CompileExpr(call.args[0], scope);
  }
  if (IsBitwise(call.op)) {
    return std::make_unique<BitCall>(call.op, CompileList(call.args, scope),
                                     operand, result);
  }
  return Refuse(call, absl::StrCat(" on ", operand.ToString()), scope);
}

// Code of an operation on floats that gives a float; null for other calls.
ExprPtr TryRealCall(const CallNode& call, Scope& scope) {
  const DType dtype = call.dtype.Element();
  if (!dtype.is_float()) return nullptr;
  for (const Expr& arg : call.args) {
    if (!arg.dtype().is_float()) return nullptr;
  }
  if (RealUnary function = FindUnary(call.op)) {
    return std::make_unique<UnaryCall>(function,
                                       CompileExpr(call.args[0], scope), dtype);
  }
  if (RealBinaryOp function = FindBinary(call.op)) {
    return std::make_unique<BinaryCall>(
        function, CompileExpr(call.args[0], scope),
        CompileExpr(call.args[1], scope), dtype);
  }
  if (call.op != Intrinsic::kFma) return nullptr;
  return std::make_unique<FmaCall>(CompileList(call.args, scope), dtype);
}

bool IsClassify(Intrinsic op) {
  return op == Intrinsic::kIsNan || op == Intrinsic::kIsInf ||
         op == Intrinsic::kIsFinite;
}

bool IsExtern(Intrinsic op) {
  return op == Intrinsic::kCallExtern || op == Intrinsic::kCallPureExtern ||
         op == Intrinsic::kCallLlvmIntrin ||
         op == Intrinsic::kCallLlvmPureIntrin || op == Intrinsic::kCallPacked ||
         op == Intrinsic::kCallCPacked;
}

}  // namespace

ExprPtr CompileCall(const CallNode& call, Scope& scope) {
  const int arity = GetIntrinsicInfo(call.op).arity;
  if (arity >= 0 && arity != static_cast<int>(call.args.size())) {
    return Refuse(call, " with a wrong number of arguments", scope);
  }
  if (call.op == Intrinsic::kStorageSync) {
    return std::make_unique<SyncCall>();
  }
  if (call.op == Intrinsic::kMinValue || call.op == Intrinsic::kMaxValue ||
      call.op == Intrinsic::kInfinity) {
    return CompileBounds(call);
  }
  if (IsExtern(call.op)) return CompileExtern(call, scope);
  if (call.op == Intrinsic::kRet) {
    return Refuse(call, ": a function that returns a number is no kernel",
                  scope);
  }
  if (call.op == Intrinsic::kPrefetch) return CompilePrefetch(call, scope);
  if (call.op == Intrinsic::kAttr) return std::make_unique<ConstantCall>(0, 0);
  if (call.op == Intrinsic::kAssume) {
    return std::make_unique<AssumeCall>(CompileExpr(call.args[0], scope),
                                        scope.place());
  }
  if (call.op == Intrinsic::kReinterpret) {
    return CompileReinterpret(call, scope);
  }
  if (IsClassify(call.op) && call.args[0].dtype().is_float()) {
    return std::make_unique<ClassifyCall>(call.op,
                                          CompileExpr(call.args[0], scope));
  }
  if (call.op == Intrinsic::kLdexp) {
    return std::make_unique<LdexpCall>(CompileExpr(call.args[0], scope),
                                       CompileExpr(call.args[1], scope),
                                       call.dtype.Element());
  }
  if (call.op == Intrinsic::kLaneSums) {
    return std::make_unique<LaneSumsCall>(
        CompileExpr(call.args[0], scope),
        call.args[0].dtype().lanes() / call.dtype.lanes(),
        call.dtype.Element());
  }
  if (call.op == Intrinsic::kQMultiplyShift ||
      call.op == Intrinsic::kQMultiplyShiftPerAxis) {
    return std::make_unique<FixedPointCall>(
        call.op, CompileList(call.args, scope), scope.place());
  }
  if (ExprPtr code = TryRealCall(call, scope)) return code;
  const bool on_ints = arity >= 1 && arity <= 2 &&
                       call.args[0].dtype().is_integral() &&
                       call.args[arity - 1].dtype().is_integral();
  if (on_ints) return CompileIntCall(call, scope);
  return Refuse(call, ": no interpretation", scope);
}

}  // namespace kiln::interp_internal
