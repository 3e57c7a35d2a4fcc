// What an expression is modulo a number.
#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"

namespace kiln {
namespace {

Modular Normalize(int64_t coefficient, int64_t base) {
  if (coefficient < 0) return {1, 0};
  if (coefficient > 0) base = FloorRemainder(base, coefficient);
  return {coefficient, base};
}

Modular Sum(const Modular& a, const Modular& b) {
  int64_t base;
  if (__builtin_add_overflow(a.base, b.base, &base)) return {1, 0};
  return Normalize(Gcd(a.coefficient, b.coefficient), base);
}

// The values of both.
Modular Join(const Modular& a, const Modular& b) {
  int64_t difference;
  if (__builtin_sub_overflow(a.base, b.base, &difference)) return {1, 0};
  const int64_t gcd = Gcd(Gcd(a.coefficient, b.coefficient), difference);
  return Normalize(gcd, a.base);
}

// (c1 p + b1)(c2 q + b2) is b1 b2 modulo gcd(c1 c2, c1 b2, c2 b1).
Modular Product(const Modular& a, const Modular& b) {
  int64_t cc, cb, bc, bb;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &cc) ||
      __builtin_mul_overflow(a.coefficient, b.base, &cb) ||
      __builtin_mul_overflow(b.coefficient, a.base, &bc) ||
      __builtin_mul_overflow(a.base, b.base, &bb)) {
    return {1, 0};
  }
  return Normalize(Gcd(Gcd(cc, cb), bc), bb);
}

Modular Negate(const Modular& a) {
  if (a.base == ConstBound::kNegInf) return {1, 0};
  return Normalize(a.coefficient, -a.base);
}

Modular Quotient(const Modular& a, int64_t c) {
  if (c <= 0 || a.coefficient % c != 0) return {1, 0};
  return Normalize(a.coefficient / c, FloorQuotient(a.base, c));
}

Modular Remainder(const Modular& a, int64_t c) {
  if (c <= 0) return {1, 0};
  const int64_t gcd = Gcd(a.coefficient, c);
  if (gcd == c) return {0, FloorRemainder(a.base, c)};
  return Normalize(gcd, a.base);
}

// Of an operator on operands of these moduli.
Modular OfBinary(ExprKind kind, const Modular& a, const Modular& b) {
  if (kind == ExprKind::kAdd) return Sum(a, b);
  if (kind == ExprKind::kSub) return Sum(a, Negate(b));
  if (kind == ExprKind::kMul) return Product(a, b);
  if (kind == ExprKind::kMin || kind == ExprKind::kMax) return Join(a, b);
  if (b.coefficient != 0) return {1, 0};
  if (kind == ExprKind::kFloorDiv) return Quotient(a, b.base);
  if (kind == ExprKind::kFloorMod) return Remainder(a, b.base);
  return {1, 0};
}

}  // namespace

Modular Context::ModulusOf(const Expr& e) {
  if (const int64_t* value = AsInt(e)) {
    if (e.dtype().is_uint() && *value < 0) return {1, 0};
    return {0, *value};
  }
  if (const auto* var = e.As<VarNode>()) {
    const VarInfo* info = FindVar(var);
    if (!info) return {1, 0};
    if (info->bound.min == info->bound.max) return {0, info->bound.min};
    return info->modular;
  }
  Visit visit(this);
  if (!visit.ok() || !IsExactInt(e.dtype())) return {1, 0};
  if (const auto* select = e.As<SelectNode>()) {
    return Join(ModulusOf(select->true_value), ModulusOf(select->false_value));
  }
  const auto* call = e.As<CallNode>();
  if (call && call->op == Intrinsic::kIfThenElse) {
    return Join(ModulusOf(call->args[1]), ModulusOf(call->args[2]));
  }
  const auto* binary = e.As<BinaryNode>();
  if (!binary || MayWrap(e)) return {1, 0};
  return OfBinary(e.kind(), ModulusOf(binary->a), ModulusOf(binary->b));
}

}  // namespace kiln
