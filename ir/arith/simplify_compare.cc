// Comparisons of integers. The difference of both sides is decided by its
// bounds, or divided by what its terms share:
//
//   i * 8 + j < 120      i < 15           where 0 <= j < 8
//   3 <= v, v < 227      as they are: one constant, to the right of `<` or to
//                        the left of `<=`
#include <algorithm>
#include <utility>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

struct Sides {
  Linear positive, negative;  // difference = positive - negative + constant
  int64_t constant = 0;
};

Sides SplitSides(Linear* difference) {
  Sides sides;
  SortTerms(difference);
  sides.constant = difference->constant;
  for (const Term& term : difference->terms) {
    if (term.coefficient > 0) {
      sides.positive.terms.push_back(term);
    } else {
      sides.negative.terms.push_back({term.atom, -term.coefficient});
    }
  }
  return sides;
}

Linear Negated(const Linear& linear) {
  Linear result;
  result.Add(linear, -1);
  return result;
}

Expr Join(ExprKind kind, Linear a, Linear b, DType dtype) {
  Expr left = ToExpr(&a, dtype), right = ToExpr(&b, dtype);
  if (!left || !right) return nullptr;
  return Expr(new BinaryNode(kind, DType::Bool(), left, right));
}

}  // namespace

bool IsOrder(ExprKind kind) {
  return kind == ExprKind::kLT || kind == ExprKind::kLE ||
         kind == ExprKind::kGT || kind == ExprKind::kGE;
}

bool IsCompare(ExprKind kind) {
  return IsOrder(kind) || kind == ExprKind::kEQ || kind == ExprKind::kNE;
}

ExprKind NegatedCompare(ExprKind kind) {
  if (kind == ExprKind::kLT) return ExprKind::kGE;
  if (kind == ExprKind::kLE) return ExprKind::kGT;
  if (kind == ExprKind::kGT) return ExprKind::kLE;
  if (kind == ExprKind::kGE) return ExprKind::kLT;
  return kind == ExprKind::kEQ ? ExprKind::kNE : ExprKind::kEQ;
}

std::optional<bool> Context::DecideLess(const Linear& difference) {
  const ConstBound bound = BoundOf(difference);
  if (bound.max < 0) return true;
  if (bound.min >= 0) return false;
  return std::nullopt;
}

std::optional<bool> Context::DecideEqual(const Linear& difference) {
  const ConstBound bound = BoundOf(difference);
  if (bound.min > 0 || bound.max < 0) return false;
  if (bound.min == 0 && bound.max == 0) return true;
  int64_t coefficient = 0, base = difference.constant;
  for (const Term& term : difference.terms) {
    const Modular modular = ModulusOf(term.atom);
    int64_t c, b;
    if (__builtin_mul_overflow(modular.coefficient, term.coefficient, &c) ||
        __builtin_mul_overflow(modular.base, term.coefficient, &b) ||
        __builtin_add_overflow(base, b, &base)) {
      return std::nullopt;
    }
    coefficient = Gcd(coefficient, c);
  }
  if (coefficient == 0 ? base != 0 : base % coefficient != 0) return false;
  return std::nullopt;
}

// x // c + rest < 0 is x + c * rest < 0; rest - x // c < 0 is
// c * (rest + 1) - x - 1 < 0.
bool Context::LiftDivision(Linear* difference) {
  for (size_t i = 0; i < difference->terms.size(); ++i) {
    const auto [atom, coefficient] = difference->terms[i];
    if (coefficient != 1 && coefficient != -1) continue;
    const auto* division = atom.As<BinaryNode>();
    if (!division || division->kind != ExprKind::kFloorDiv) continue;
    const int64_t* c = AsInt(division->b);
    if (!c || *c <= 0) continue;
    Linear lifted, rest = *difference;
    rest.Remove(static_cast<int>(i));
    if (coefficient < 0) rest.AddConstant(1);
    Decompose(division->a, coefficient, &lifted);
    lifted.Add(rest, *c);
    if (coefficient < 0) lifted.AddConstant(-1);
    if (!lifted.ok) continue;
    *difference = std::move(lifted);
    return true;
  }
  return false;
}

Expr Context::SimplifyLess(Linear difference, DType dtype) {
  for (;;) {
    if (!difference.ok) return nullptr;
    if (auto known = DecideLess(difference)) return Bool(*known);
    Linear removed;
    if (TakeOutDivisor(&difference, 0, &removed) > 1) continue;
    if (!LiftDivision(&difference)) break;
    Recombine(&difference, dtype);
  }
  Sides sides = SplitSides(&difference);
  const int64_t c = sides.constant;
  if (sides.negative.terms.empty()) {  // positive < -c
    sides.negative.constant = -c;
    return Join(ExprKind::kLT, sides.positive, sides.negative, dtype);
  }
  if (sides.positive.terms.empty()) {  // c + 1 <= negative
    sides.positive.constant = c;
    sides.positive.AddConstant(1);
    return sides.positive.ok
               ? Join(ExprKind::kLE, sides.positive, sides.negative, dtype)
               : nullptr;
  }
  if (c == -1)
    return Join(ExprKind::kLE, sides.positive, sides.negative, dtype);
  (c > 0 ? sides.positive : sides.negative).constant = c > 0 ? c : -c;
  return Join(ExprKind::kLT, sides.positive, sides.negative, dtype);
}

Expr Context::SimplifyEqual(Linear difference, DType dtype, bool equal) {
  if (!difference.ok) return nullptr;
  if (auto known = DecideEqual(difference)) return Bool(*known == equal);
  int64_t gcd = 0;
  for (const Term& term : difference.terms) gcd = Gcd(gcd, term.coefficient);
  if (gcd > 1) {
    if (difference.constant % gcd != 0) return Bool(!equal);
    for (Term& term : difference.terms) term.coefficient /= gcd;
    difference.constant /= gcd;
  }
  if (difference.terms[0].coefficient < 0) difference = Negated(difference);
  Sides sides = SplitSides(&difference);
  const int64_t c = sides.constant;
  const bool right = c < 0 || sides.negative.terms.empty();
  (right ? sides.negative : sides.positive).constant = right ? -c : c;
  return Join(equal ? ExprKind::kEQ : ExprKind::kNE, sides.positive,
              sides.negative, dtype);
}

Expr Context::SimplifyCompare(const Expr& e) {
  const auto* compare = e.As<BinaryNode>();
  const DType dtype = compare->a.dtype();
  if (!IsExactInt(dtype) || MayWrap(compare->a) || MayWrap(compare->b)) {
    return SimplifyOperands(e);
  }
  const ExprKind kind = e.kind();
  const bool swapped = kind == ExprKind::kGT || kind == ExprKind::kGE;
  Linear difference;
  Linearize(swapped ? compare->b : compare->a, 1, &difference);
  Linearize(swapped ? compare->a : compare->b, -1, &difference);
  Recombine(&difference, dtype);
  if (kind == ExprKind::kLE || kind == ExprKind::kGE) {
    difference.AddConstant(-1);
  }
  Expr result = IsOrder(kind) ? SimplifyLess(std::move(difference), dtype)
                              : SimplifyEqual(std::move(difference), dtype,
                                              kind == ExprKind::kEQ);
  if (!result) return SimplifyOperands(e);
  if (AsInt(result)) return result;
  if (!facts_.empty()) {
    if (auto known = LookUp(result)) return Bool(*known);
    const auto* node = result.As<BinaryNode>();
    if (!IsOrder(result.kind())) {
      if (auto known =
              LookUp(Binary(NegatedCompare(result.kind()), node->a, node->b))) {
        return Bool(!*known);
      }
    }
  }
  return SameExpr(result, e) ? e : result;
}

ConstBound Context::BoundOfDifference(const Expr& a, const Expr& b) {
  Linear difference;
  Linearize(a, 1, &difference);
  Linearize(b, -1, &difference);
  Recombine(&difference, a.dtype());
  return difference.ok ? BoundOf(difference) : ConstBound();
}

std::optional<bool> Context::Decide(const Expr& condition) {
  if (const int64_t* known = AsInt(condition)) return *known != 0;
  const auto* binary = condition.As<BinaryNode>();
  if (binary && condition.kind() == ExprKind::kAnd) {
    const auto a = Decide(binary->a);
    if (a && !*a) return false;
    const auto b = Decide(binary->b);
    if (a && b) return *b;
  }
  const Expr simplified = Simplify(condition);
  if (const int64_t* known = AsInt(simplified)) return *known != 0;
  return std::nullopt;
}

}  // namespace kiln
