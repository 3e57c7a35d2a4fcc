// An atom is bounded by its kind, a normal form by the sum of its terms, by a
// common factor, and by known constraints: where A <= h is known, k * A + rest
// <= k * h + max(rest). Each way is right by itself, so that their intersection
// is.
//
//   j*8 + i - n*8, where 0 <= i < 8 and j - n <= -1
//     by its terms           no bound, as n has none
//     by the constraint      k = 8, rest = i:  at most 8 * -1 + 7 = -1
//
// Which constraints to combine is tried, kEliminations deep; the number of
// tries and the work of one bound are limited, so that a bound may come out
// wider than it need be, but in time.
#include <algorithm>

#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

bool IsFree(const ConstBound& b) {
  return b.min == ConstBound::kNegInf && b.max == ConstBound::kPosInf;
}

ConstBound BoundOfType(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_uint() && dtype.bits() <= 32) {
    return {0, static_cast<int64_t>((uint64_t{1} << dtype.bits()) - 1)};
  }
  if (dtype.is_int() && dtype.bits() < 32) {
    const int64_t limit = int64_t{1} << (dtype.bits() - 1);
    return {-limit, limit - 1};
  }
  return {};
}

bool IsDigit(ExprKind kind) {
  return kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod ||
         kind == ExprKind::kTruncDiv || kind == ExprKind::kTruncMod;
}

// Whether arithmetic on values of `dtype` does not wrap.
bool IsExact(DType dtype) { return IsExactInt(dtype); }

}  // namespace

bool Context::MayWrap(const Expr& e) {
  if (!e->has_loads || e.kind() == ExprKind::kLoad ||
      e.kind() == ExprKind::kCast) {
    return false;
  }
  const ConstBound bound = BoundOf(e);
  if (e.dtype().bits() >= 64) return !IsFinite(bound);
  const int64_t limit = int64_t{1} << (e.dtype().bits() - 1);
  return bound.min < -limit || bound.max >= limit;
}

ConstBound Context::BoundOf(const Expr& e) {
  if (!e.dtype().is_scalar()) return {};
  const bool is_sum = e.kind() == ExprKind::kAdd ||
                      e.kind() == ExprKind::kSub || e.kind() == ExprKind::kMul;
  if (!is_sum || !IsExact(e.dtype())) return KeptBoundOf(e);
  Visit visit(this);
  if (!visit.ok()) return {};
  const Linear linear = LinearOf(e);
  return linear.ok ? BoundOf(linear) : ConstBound();
}

ConstBound Context::BoundOfAtom(const Expr& atom) {
  ConstBound bound = BoundOfNode(atom);
  if (atom.kind() == ExprKind::kVar) return bound;
  for (const Constraint& constraint : constraints_) {
    const auto& terms = constraint.terms.terms;
    if (terms.size() != 1 || !SameButForFactorOrder(terms[0].atom, atom))
      continue;
    if (terms[0].coefficient == 1) bound = Intersect(bound, constraint.bound);
  }
  return bound;
}

// With constraints a bound takes long, and is asked for again by each of those
// that name the atom: also while it is looked for, as that of (n + 5) // 6 by
// that of n + 5, which a constraint on the quotient bounds. Then nothing is
// known, and what was found without it is not kept.
ConstBound Context::KeptBoundOf(const Expr& atom) {
  if (constraints_.empty() || !IsDigit(atom.kind())) return BoundOfAtom(atom);
  for (const auto& [kept, bound] : kept_bounds_) {
    if (kept == atom) return bound;
  }
  if (std::find(sought_.begin(), sought_.end(), atom) != sought_.end()) {
    ++cycles_;
    return {};
  }
  const int64_t cuts = cuts_, cycles = cycles_;
  sought_.push_back(atom);
  const ConstBound bound = BoundOfAtom(atom);
  sought_.pop_back();
  if (cuts_ == cuts && (cycles_ == cycles || sought_.empty())) {
    if (kept_bounds_.size() == kMostKeptBounds) ForgetBounds();
    kept_bounds_.emplace_back(atom, bound);
  }
  return bound;
}

ConstBound Context::BoundOfNode(const Expr& e) {
  if (const int64_t* value = AsInt(e)) {
    return e.dtype().is_uint() && *value < 0 ? ConstBound() : Point(*value);
  }
  if (const auto* var = e.As<VarNode>()) {
    const VarInfo* info = FindVar(var);
    return info ? Intersect(info->bound, BoundOfType(e.dtype()))
                : BoundOfType(e.dtype());
  }
  Visit visit(this);
  if (!visit.ok()) return {};
  if (const auto* binary = e.As<BinaryNode>()) {
    return IsExact(e.dtype()) ? BoundOfBinary(*binary) : BoundOfType(e.dtype());
  }
  if (const auto* select = e.As<SelectNode>()) {
    return Hull(BoundOf(select->true_value), BoundOf(select->false_value));
  }
  if (const auto* cast = e.As<CastNode>()) {
    if (!cast->value.dtype().is_integral()) return BoundOfType(e.dtype());
    return IsExact(e.dtype()) ? BoundOf(cast->value) : BoundOfType(e.dtype());
  }
  if (const auto* call = e.As<CallNode>()) return BoundOfCall(*call);
  return BoundOfType(e.dtype());
}

ConstBound Context::BoundOfCall(const CallNode& e) {
  switch (e.op) {
    case Intrinsic::kIfThenElse:
      return Hull(BoundOf(e.args[1]), BoundOf(e.args[2]));
    case Intrinsic::kLikely:
      return BoundOf(e.args[0]);
    default:
      return BoundOfType(e.dtype);
  }
}

ConstBound Context::BoundOfBinary(const BinaryNode& e) {
  switch (e.kind) {
    case ExprKind::kMin: {
      const ConstBound a = BoundOf(e.a), b = BoundOf(e.b);
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    }
    case ExprKind::kMax: {
      const ConstBound a = BoundOf(e.a), b = BoundOf(e.b);
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    }
    case ExprKind::kMul:
      return Times(BoundOf(e.a), BoundOf(e.b));
    case ExprKind::kAdd:
      return Plus(BoundOf(e.a), BoundOf(e.b));
    case ExprKind::kSub:
      return Plus(BoundOf(e.a), Scale(BoundOf(e.b), -1));
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return BoundOfDivision(e);
    default:
      return {};
  }
}

ConstBound Context::BoundOfDivision(const BinaryNode& e) {
  const ConstBound divisor = BoundOf(e.b), a = BoundOf(e.a);
  const bool truncates =
      e.kind == ExprKind::kTruncDiv || e.kind == ExprKind::kTruncMod;
  if (divisor.min <= 0 || divisor.min > divisor.max) return {};
  if (truncates && a.min < 0) return {};
  if (divisor.min == divisor.max) {
    return e.kind == ExprKind::kFloorDiv || e.kind == ExprKind::kTruncDiv
               ? FloorDivBy(a, divisor.min)
               : FloorModBy(a, divisor.min);
  }
  const ConstBound by_least = FloorDivBy(a, divisor.min);
  if (e.kind == ExprKind::kFloorDiv || e.kind == ExprKind::kTruncDiv) {
    ConstBound bound;
    for (const Linear& limit : LimitsOfDigit(e)) {
      if (limit.is_constant()) bound.max = std::min(bound.max, limit.constant);
    }
    if (divisor.max == ConstBound::kPosInf) {
      return Intersect(bound,
                       {std::min<int64_t>(by_least.min, 0),
                        std::max<int64_t>(by_least.max, a.max < 0 ? -1 : 0)});
    }
    return Intersect(bound, Hull(by_least, FloorDivBy(a, divisor.max)));
  }
  const int64_t top =
      divisor.max == ConstBound::kPosInf ? divisor.max : divisor.max - 1;
  return {0, a.min >= 0 ? std::min(a.max, top) : top};
}

ConstBound Context::BoundOfTerms(const Linear& linear) {
  ConstBound sum = Point(linear.constant);
  for (const Term& term : linear.terms) {
    sum = Plus(sum, Scale(KeptBoundOf(term.atom), term.coefficient));
    if (IsFree(sum)) break;
  }
  return sum;
}

ConstBound Context::BoundOf(const Linear& linear, int eliminations) {
  const ConstBound bound = BoundOfTerms(linear);
  if (linear.terms.size() < 2 && constraints_.empty()) return bound;
  if (IsFinite(bound) && constraints_.empty()) return bound;
  Visit visit(this);
  if (!visit.ok()) return bound;
  if (eliminations != kEliminations) {
    return Intersect(bound, BoundByFacts(linear, eliminations));
  }
  eliminations_left_ = kMaxEliminations;
  const int end = work_end_;
  work_end_ = std::min(end, work_ + kMaxWorkOfBound);
  const ConstBound by_facts = BoundByFacts(linear, eliminations);
  work_end_ = end;
  return Intersect(bound, by_facts);
}

ConstBound Context::BoundByFacts(const Linear& linear, int eliminations) {
  ConstBound bound = BoundByFactor(linear, eliminations);
  if (eliminations < 0) return bound;
  bound = Intersect(bound, BoundByDigits(linear, eliminations));
  if (constraints_.empty()) return bound;
  return Intersect(bound, BoundByConstraints(linear, eliminations));
}

// n * j - 127 * n is n * (j - 127).
ConstBound Context::BoundByFactor(const Linear& linear, int eliminations) {
  if (linear.constant != 0 || linear.terms.size() < 2) return {};
  const bool any_product = std::any_of(
      linear.terms.begin(), linear.terms.end(),
      [](const Term& t) { return t.atom.kind() == ExprKind::kMul; });
  if (!any_product) return {};
  for (const Expr& factor : FactorsOf(linear.terms[0].atom)) {
    Linear quotient;
    for (const Term& term : linear.terms) {
      Factors factors = FactorsOf(term.atom);
      auto found =
          std::find_if(factors.begin(), factors.end(), [&](const Expr& other) {
            return SameButForFactorOrder(factor, other);
          });
      if (found == factors.end()) {
        quotient.ok = false;
        break;
      }
      factors.erase(found);
      if (factors.empty()) {
        quotient.AddConstant(term.coefficient);
      } else {
        quotient.Add(ProductOf(factors), term.coefficient);
      }
    }
    if (quotient.ok) {
      Linear alone;
      alone.Add(factor, 1);
      return Times(BoundOf(alone, eliminations - 1),
                   BoundOf(quotient, eliminations));
    }
  }
  return {};
}

ConstBound Context::BoundByConstraints(const Linear& linear, int eliminations) {
  ConstBound bound;
  for (size_t i = 0; i < constraints_.size(); ++i) {
    if (constraints_[i].terms.terms.size() < 2) continue;
    bound = Intersect(bound,
                      BoundByConstraint(linear, constraints_[i], eliminations));
  }
  return bound;
}

ConstBound Context::BoundByConstraint(const Linear& linear,
                                      const Constraint& constraint,
                                      int eliminations) {
  ConstBound bound;
  const Linear& known = constraint.terms;
  for (const Term& term : known.terms) {
    const int at = linear.Find(term.atom);
    if (at < 0 || linear.terms[at].coefficient % term.coefficient) continue;
    const int64_t factor = linear.terms[at].coefficient / term.coefficient;
    if (factor == ConstBound::kNegInf) continue;
    Linear rest = linear;
    rest.Add(known, -factor);
    if (!rest.ok || rest.terms.size() > linear.terms.size() + 1) continue;
    if (--eliminations_left_ < 0) return bound;
    Recombine(&rest, term.atom.dtype());
    if (!rest.ok) continue;
    const ConstBound rest_bound =
        eliminations > 0 ? BoundOf(rest, eliminations - 1) : BoundOfTerms(rest);
    bound = Intersect(bound, Plus(rest_bound, Scale(constraint.bound, factor)));
  }
  return bound;
}

// Uses that x // n and x % n do not exceed the limits of a symbolic divisor.
ConstBound Context::BoundByDigits(const Linear& linear, int eliminations) {
  ConstBound bound;
  for (const Term& term : linear.terms) {
    const auto* digit = term.atom.As<BinaryNode>();
    if (!digit || AsInt(digit->b)) continue;
    for (Linear& limit : LimitsOfDigit(*digit)) {
      const ConstBound below{ConstBound::kNegInf, limit.constant};
      limit.constant = 0;
      Constraint constraint;
      constraint.terms.Add(term.atom, 1);
      constraint.terms.Add(limit, -1);
      constraint.bound = below;
      if (!constraint.terms.ok) continue;
      bound =
          Intersect(bound, BoundByConstraint(linear, constraint, eliminations));
    }
  }
  return bound;
}

}  // namespace kiln
