// What follows from a condition: bounds of variables and of sums, moduli, and
// the condition itself.
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"

namespace kiln {
namespace {

// The smallest q with divisor * q >= a (divisor < 0), or the largest with
// divisor * q <= a (divisor > 0).
int64_t BoundQuotient(int64_t a, int64_t divisor) {
  return divisor > 0 ? FloorQuotient(a, divisor) : -FloorQuotient(a, -divisor);
}

}  // namespace

void Context::Assume(const Expr& condition, bool value) {
  Visit visit(this);
  if (!visit.ok() || !condition.dtype().is_scalar()) return;
  if (AsInt(condition)) return;
  if (const auto* negation = condition.As<NotNode>()) {
    return Assume(negation->value, !value);
  }
  const auto* binary = condition.As<BinaryNode>();
  const ExprKind all = value ? ExprKind::kAnd : ExprKind::kOr;
  if (binary && condition.kind() == all) {
    Assume(binary->a, value);
    return Assume(binary->b, value);
  }
  if (binary && IsCompare(condition.kind()) && IsExactInt(binary->a.dtype()) &&
      !MayWrap(binary->a) && !MayWrap(binary->b)) {
    AssumeCompare(value ? condition.kind() : NegatedCompare(condition.kind()),
                  binary->a, binary->b);
    if (IsOrder(condition.kind())) return;
  }
  const auto* call = condition.As<CallNode>();
  if (call && call->op == Intrinsic::kLikely) Assume(call->args[0], value);
  const Expr simplified = Simplify(condition);
  if (!AsInt(simplified)) AddFact(simplified, value);
}

void Context::AssumeCompare(ExprKind kind, const Expr& a, const Expr& b) {
  Linear difference = LinearOf(a);
  difference.Add(LinearOf(b), -1);
  Linear reverse;
  reverse.Add(difference, -1);
  if (kind == ExprKind::kLT) difference.AddConstant(1);
  if (kind == ExprKind::kGT) reverse.AddConstant(1);
  if (kind == ExprKind::kLT || kind == ExprKind::kLE) {
    AssumeUpper(std::move(difference));
  } else if (kind == ExprKind::kGT || kind == ExprKind::kGE) {
    AssumeUpper(std::move(reverse));
  } else if (kind == ExprKind::kEQ) {
    AssumeUpper(std::move(difference));
    AssumeUpper(std::move(reverse));
    AssumeModulus(a, b);
  }
}

// x % c == r.
void Context::AssumeModulus(const Expr& a, const Expr& b) {
  const auto* mod = a.As<BinaryNode>();
  const int64_t* base = AsInt(b);
  if (!mod || a.kind() != ExprKind::kFloorMod || !base) return;
  const auto* var = mod->a.As<VarNode>();
  const int64_t* divisor = AsInt(mod->b);
  if (!var || !divisor || *divisor <= 1 || *base < 0 || *base >= *divisor) {
    return;
  }
  VarInfo& info = VarOf(Var(var));
  if (info.modular.coefficient != 1) return;
  undo_.push_back({Undo::kVar, static_cast<uint32_t>(&info - vars_.data()),
                   info.version, info.bound, info.modular});
  info.modular = {*divisor, *base};
}

void Context::AssumeUpper(Linear linear) {
  if (!linear.ok || linear.is_constant()) return;
  // i * 8 + j - 119 <= 0 is i - 14 <= 0 where 0 <= j < 8.
  linear.AddConstant(-1);
  Linear removed;
  while (linear.ok && TakeOutDivisor(&linear, 0, &removed) > 1) {
  }
  linear.AddConstant(1);
  AddUpper(linear, nullptr);
  for (size_t i = 0; i < linear.terms.size(); ++i) {
    // coefficient * atom <= -(the least that the others come to)
    const Term& term = linear.terms[i];
    Linear others = linear;
    others.Remove(static_cast<int>(i));
    const ConstBound rest = BoundOfTerms(others);
    if (rest.min == ConstBound::kNegInf || rest.min == ConstBound::kPosInf) {
      continue;
    }
    const int64_t end = BoundQuotient(-rest.min, term.coefficient);
    ConstBound bound;
    (term.coefficient > 0 ? bound.max : bound.min) = end;
    Tighten(term.atom, bound);
  }
}

}  // namespace kiln
