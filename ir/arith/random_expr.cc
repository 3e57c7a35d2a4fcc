// The expressions that tests of index arithmetic draw, and what they are worth.
// Weights favour what the simplifier has rules for: sums, multiples, divisions
// and remainders by constants, negative ones included. With the variables i and
// j, depth 4 may give
//
//   ((((i * 8) + j) // 4) % 3)
//
// Evaluate works by the definition of each kind and knows no rule. Where it
// divides by zero or overflows, it gives nullopt, and a test skips the point:
// there, an expression may become anything. A kind of expression is added in
// RandomExpr::Int or Condition, in Evaluate and in ToText.
#include "kiln/ir/arith/random_expr.h"

#include <cstdio>
#include <cstdlib>

namespace kiln {
namespace {

std::optional<int64_t> EvaluateBinary(const Expr& e, const Values& values) {
  const auto* binary = e.As<BinaryNode>();
  const auto a = Evaluate(binary->a, values);
  if (!a) return std::nullopt;
  if (e.kind() == ExprKind::kAnd && *a == 0) return 0;
  if (e.kind() == ExprKind::kOr && *a != 0) return 1;
  const auto b = Evaluate(binary->b, values);
  int64_t out;
  if (!b || !FoldInt(e.kind(), *a, *b, &out)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<int64_t> Evaluate(const Expr& e, const Values& values) {
  if (const int64_t* value = AsInt(e)) return *value;
  if (const auto* var = e.As<VarNode>()) return values.at(var);
  if (e.As<BinaryNode>()) return EvaluateBinary(e, values);
  if (const auto* negation = e.As<NotNode>()) {
    const auto value = Evaluate(negation->value, values);
    if (!value) return std::nullopt;
    return *value == 0;
  }
  if (const auto* select = e.As<SelectNode>()) {
    const auto condition = Evaluate(select->condition, values);
    const auto a = Evaluate(select->true_value, values);
    const auto b = Evaluate(select->false_value, values);
    if (!condition || !a || !b) return std::nullopt;
    return *condition ? a : b;
  }
  if (const auto* call = e.As<CallNode>()) {  // if_then_else
    const auto condition = Evaluate(call->args[0], values);
    if (!condition) return std::nullopt;
    return Evaluate(call->args[*condition ? 1 : 2], values);
  }
  return std::nullopt;
}

std::string ToText(const Expr& e) {
  if (const int64_t* value = AsInt(e)) return std::to_string(*value);
  if (const auto* var = e.As<VarNode>()) return var->name;
  if (const auto* binary = e.As<BinaryNode>()) {
    const BinaryInfo* info = GetBinaryInfo(e.kind());
    const std::string a = ToText(binary->a), b = ToText(binary->b);
    if (info->symbol.empty()) {
      return std::string(info->name) + "(" + a + ", " + b + ")";
    }
    return "(" + a + " " + std::string(info->symbol) + " " + b + ")";
  }
  if (const auto* negation = e.As<NotNode>()) {
    return "not " + ToText(negation->value);
  }
  if (const auto* select = e.As<SelectNode>()) {
    return "Select(" + ToText(select->condition) + ", " +
           ToText(select->true_value) + ", " + ToText(select->false_value) +
           ")";
  }
  if (const auto* call = e.As<CallNode>()) {
    std::string text(GetIntrinsicInfo(call->op).name);
    text += "(";
    for (const Expr& arg : call->args) text += ToText(arg) + ", ";
    return text + ")";
  }
  return std::string(ExprKindName(e.kind()));
}

uint64_t TestSeed() {
  const char* given = std::getenv("KILN_TEST_SEED");
  const uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("KILN_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

Expr RandomExpr::Division(int depth) {
  static constexpr int64_t kDivisors[] = {2, 3, 4, 5, 8, 12, 16, 32, -3, -4};
  Expr x = Int(depth - 1), c = kiln::Int(kDivisors[Below(10)]);
  switch (Below(6)) {
    case 0:
      return Binary(ExprKind::kTruncDiv, x, c);
    case 1:
      return Binary(ExprKind::kTruncMod, x, c);
    case 2:
    case 3:
      return FloorDiv(x, c);
    default:
      return FloorMod(x, c);
  }
}

Expr RandomExpr::Int(int depth) {
  static constexpr int64_t kFactors[] = {2, 3, 4, 8, 16, 32, -1, -4, 5, 12};
  if (depth <= 0 || Below(8) == 0) {
    if (Below(4) == 0) return kiln::Int(Below(41) - 20);
    return vars_[Below(static_cast<int64_t>(vars_.size()))];
  }
  switch (Below(14)) {
    case 0:
    case 1:
    case 2:
      return Add(Int(depth - 1), Int(depth - 1));
    case 3:
      return Sub(Int(depth - 1), Int(depth - 1));
    case 4:
    case 5:
    case 6:
      return Mul(Int(depth - 1), kiln::Int(kFactors[Below(10)]));
    case 7:
      return Mul(Int(depth - 2), Int(depth - 2));
    case 8:
    case 9:
    case 10:
      return Division(depth);
    case 11:
      return Binary(Below(2) ? ExprKind::kMin : ExprKind::kMax, Int(depth - 1),
                    Int(depth - 1));
    case 12: {
      Expr a = Int(depth - 1);
      return Below(2) ? Select(Condition(depth - 1), a, Int(depth - 1))
                      : Call(a.dtype(), Intrinsic::kIfThenElse,
                             {Condition(depth - 1), a, Int(depth - 1)});
    }
    default:
      return Below(2) ? FloorDiv(Int(depth - 1), Int(depth - 2))
                      : FloorMod(Int(depth - 1), Int(depth - 2));
  }
}

Expr RandomExpr::Condition(int depth) {
  static constexpr ExprKind kCompares[] = {ExprKind::kLT, ExprKind::kLE,
                                           ExprKind::kGT, ExprKind::kGE,
                                           ExprKind::kEQ, ExprKind::kNE};
  if (depth > 0) {
    switch (Below(6)) {
      case 0:
        return And(Condition(depth - 1), Condition(depth - 1));
      case 1:
        return Or(Condition(depth - 1), Condition(depth - 1));
      case 2:
        return Not(Condition(depth - 1));
      default:
        break;
    }
  }
  return Binary(kCompares[Below(6)], Int(depth - 1), Int(depth - 1));
}

}  // namespace kiln
