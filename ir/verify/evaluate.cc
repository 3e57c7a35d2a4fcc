#include "kiln/ir/verify/evaluate.h"

namespace kiln::verify_internal {
namespace {

using Result = std::optional<int64_t>;

// The value, if it needs no wrapping in `dtype`.
Result Fitting(int64_t value, DType dtype) {
  if (dtype.is_bool())
    return value == 0 || value == 1 ? Result(value) : Result();
  if (dtype.bits() == 64) {
    return dtype.is_int() || value >= 0 ? Result(value) : Result();
  }
  const int64_t limit = int64_t{1} << (dtype.bits() - (dtype.is_int() ? 1 : 0));
  const int64_t least = dtype.is_int() ? -limit : 0;
  return value >= least && value < limit ? Result(value) : Result();
}

// `a and b` where either may be unknown.
Result Both(Result a, Result b) {
  if ((a && !*a) || (b && !*b)) return 0;
  return a && b ? Result(1) : Result();
}

Result Negated(Result a) { return a ? Result(!*a) : Result(); }

Result EvaluateBinary(const BinaryNode& e, const Values& values) {
  const Result a = Evaluate(e.a, values);
  if (e.kind == ExprKind::kAnd) {
    return a && !*a ? a : Both(a, Evaluate(e.b, values));
  }
  if (e.kind == ExprKind::kOr) {
    if (a && *a) return a;
    return Negated(Both(Negated(a), Negated(Evaluate(e.b, values))));
  }
  if (!a) return a;
  const Result b = Evaluate(e.b, values);
  int64_t result;
  if (!b || !FoldInt(e.kind, *a, *b, &result)) return std::nullopt;
  return Fitting(result, e.dtype);
}

Result EvaluateChoice(const Expr& condition, const Expr& yes, const Expr& no,
                      const Values& values) {
  const Result chosen = Evaluate(condition, values);
  if (!chosen) return chosen;
  return Evaluate(*chosen ? yes : no, values);
}

Result EvaluateCall(const CallNode& e, const Values& values) {
  if (e.op == Intrinsic::kLikely) return Evaluate(e.args[0], values);
  if (e.op == Intrinsic::kIfThenElse) {
    return EvaluateChoice(e.args[0], e.args[1], e.args[2], values);
  }
  const bool known =
      e.op == Intrinsic::kBitwiseAnd || e.op == Intrinsic::kBitwiseOr ||
      e.op == Intrinsic::kBitwiseXor || e.op == Intrinsic::kShiftRight;
  if (!known) return std::nullopt;
  const Result a = Evaluate(e.args[0], values);
  const Result b = a ? Evaluate(e.args[1], values) : a;
  if (!b) return b;
  if (e.op == Intrinsic::kBitwiseAnd) return *a & *b;
  if (e.op == Intrinsic::kBitwiseOr) return *a | *b;
  if (e.op == Intrinsic::kBitwiseXor) return *a ^ *b;
  return *b >= 0 && *b < 63 ? Result(*a >> *b) : Result();
}

}  // namespace

std::optional<int64_t> Evaluate(const Expr& e, const Values& values) {
  if (!e.dtype().is_integral() || !e.dtype().is_scalar()) return std::nullopt;
  if (const int64_t* known = AsInt(e)) return Fitting(*known, e.dtype());
  if (const auto* var = e.As<VarNode>()) {
    const auto* entry = values.find(var);
    return entry == values.end() ? std::nullopt : entry->second;
  }
  if (const auto* binary = e.As<BinaryNode>()) {
    return EvaluateBinary(*binary, values);
  }
  if (const auto* cast = e.As<CastNode>()) {
    const Result value = Evaluate(cast->value, values);
    return value ? Fitting(*value, e.dtype()) : value;
  }
  if (const auto* negation = e.As<NotNode>()) {
    return Negated(Evaluate(negation->value, values));
  }
  if (const auto* select = e.As<SelectNode>()) {
    return EvaluateChoice(select->condition, select->true_value,
                          select->false_value, values);
  }
  const auto* call = e.As<CallNode>();
  return call ? EvaluateCall(*call, values) : std::nullopt;
}

}  // namespace kiln::verify_internal
