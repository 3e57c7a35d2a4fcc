#include "kiln/ir/interp/fold.h"

#include <cmath>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/numeric.h"

namespace kiln {
namespace {

Expr Whole(int64_t value, DType dtype) {
  return dtype.is_bool() ? Bool(value != 0) : Int(value, dtype);
}

// The conversion of a constant; null for other values.
Expr FoldCast(const CastNode& cast) {
  const DType to = cast.dtype;
  if (to.lanes() > 1) return Expr();
  if (const auto* real = cast.value.As<FloatImmNode>()) {
    if (to.is_float()) return Float(RoundReal(to, real->value), to);
    if (to.is_integral()) return Whole(RealToInt(real->value, to), to);
  }
  const int64_t* whole = AsInt(cast.value);
  const DType from = cast.value.dtype();
  if (!whole || from.lanes() > 1) return Expr();
  if (to.is_float()) return Float(IntToReal(*whole, from, to), to);
  if (to.is_integral()) return Whole(WrapInt(to, *whole), to);
  return Expr();
}

// A bound of a type; null for other calls.
Expr FoldBound(const CallNode& call) {
  const DType dtype = call.dtype;
  const bool is_lowest = call.op == Intrinsic::kMinValue;
  if (dtype.lanes() > 1 || (!is_lowest && call.op != Intrinsic::kMaxValue)) {
    return Expr();
  }
  if (dtype.is_float()) {
    return Float(is_lowest ? LowestReal(dtype) : HighestReal(dtype), dtype);
  }
  if (!dtype.is_integral()) return Expr();
  return Whole(is_lowest ? LowestInt(dtype) : HighestInt(dtype), dtype);
}

bool IsNumber(const Expr& e, double value) {
  const auto* real = e.As<FloatImmNode>();
  return real && real->value == value && !std::signbit(real->value);
}

// What is left of an operation with a number that changes nothing, such as
// x / 1; null for others. x + 0 is none of them: -0 becomes 0.
Expr FoldUnit(const BinaryNode& binary) {
  const bool takes_one =
      binary.kind == ExprKind::kMul || binary.kind == ExprKind::kDiv;
  if (takes_one && IsNumber(binary.b, 1)) return binary.a;
  if (binary.kind == ExprKind::kMul && IsNumber(binary.a, 1)) return binary.b;
  if (binary.kind == ExprKind::kSub && IsNumber(binary.b, 0)) return binary.a;
  return Expr();
}

}  // namespace

Expr FoldNumbers(const Expr& e) {
  const Expr below =
      MapOperands(e, [](const Expr& operand) { return FoldNumbers(operand); });
  Expr folded;
  if (const auto* cast = below.As<CastNode>()) folded = FoldCast(*cast);
  if (const auto* call = below.As<CallNode>()) folded = FoldBound(*call);
  if (const auto* binary = below.As<BinaryNode>()) folded = FoldUnit(*binary);
  return folded ? folded : below;
}

}  // namespace kiln
