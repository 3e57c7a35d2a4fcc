// Interval arithmetic with symbolic ends. An expression is taken apart into its
// normal form; each atom that depends on a running variable becomes a set, and
// the sets add up. A set holds all values and may hold more.
//
//   v*64 + i*8 + j, i and j in 0..7  v*64 .. v*64 + 63
//   i*8 + j where i*8 + j < 120      0 .. 119: the slack 119 - i*8 - j of the
//     i in 0..15, j in 0..7          condition, added to the sum, cancels both
//
// Most sums run over multiples of different loop variables between constants;
// of these the ends are added as numbers (PlainSum), with no expression in
// between. A sum in which a variable stands twice is simplified first, since (i
// + j) - i is not as wide as its parts suggest.
#include "kiln/ir/arith/int_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

constexpr int kMaxDepth = 64;

class Evaluator {
 public:
  Evaluator(const Domains& domains, Analyzer* analyzer)
      : domains_(domains), analyzer_(*analyzer) {}

  IntSet Eval(const Expr& e, int depth) {
    if (depth > kMaxDepth) return {};
    if (!Varies(e)) return {e, e};
    if (const auto* var = e.As<VarNode>()) {
      return EvalVar(domains_.at(var), depth);
    }
    if (const auto* binary = e.As<BinaryNode>()) {
      return EvalBinary(*binary, depth);
    }
    if (const auto* select = e.As<SelectNode>()) {
      return UnionSet(Eval(select->true_value, depth + 1),
                      Eval(select->false_value, depth + 1), &analyzer_);
    }
    const auto* call = e.As<CallNode>();
    if (call && call->op == Intrinsic::kIfThenElse) {
      return UnionSet(Eval(call->args[1], depth + 1),
                      Eval(call->args[2], depth + 1), &analyzer_);
    }
    if (const auto* cast = e.As<CastNode>()) return EvalCast(*cast, depth);
    return {};
  }

 private:
  bool Varies(const Expr& e) { return UsesVar(e, domains_); }

  // A domain may depend on variables that run too.
  IntSet EvalVar(const Range& domain, int depth) {
    Expr last = analyzer_.Simplify(
        Sub(Add(domain.min, domain.extent), Int(1, domain.min.dtype())));
    if (!Varies(domain.min) && !Varies(last)) {
      return {domain.min, std::move(last)};
    }
    return {Eval(domain.min, depth + 1).min, Eval(last, depth + 1).max};
  }

  IntSet EvalCast(const CastNode& e, int depth) {
    if (!e.value.dtype().is_int() || !e.dtype.is_int()) return {};
    if (e.dtype.bits() < e.value.dtype().bits()) return {};
    const IntSet set = Eval(e.value, depth + 1);
    return {set.min ? Cast(e.dtype, set.min) : nullptr,
            set.max ? Cast(e.dtype, set.max) : nullptr};
  }

  static Expr Apply(ExprKind kind, const Expr& a, const Expr& b) {
    return a && b ? Binary(kind, a, b) : nullptr;
  }

  IntSet EvalBinary(const BinaryNode& e, int depth) {
    if (e.kind == ExprKind::kAdd) {
      const IntSet a = Eval(e.a, depth + 1), b = Eval(e.b, depth + 1);
      return {Apply(e.kind, a.min, b.min), Apply(e.kind, a.max, b.max)};
    }
    if (e.kind == ExprKind::kSub) {
      const IntSet a = Eval(e.a, depth + 1), b = Eval(e.b, depth + 1);
      return {Apply(e.kind, a.min, b.max), Apply(e.kind, a.max, b.min)};
    }
    if (e.kind == ExprKind::kMul) return EvalProduct(e, depth);
    if (e.kind == ExprKind::kMin || e.kind == ExprKind::kMax) {
      return EvalMinMax(e, depth);
    }
    if (e.kind == ExprKind::kFloorDiv) return EvalQuotient(e, depth);
    if (e.kind == ExprKind::kFloorMod) return EvalRemainder(e, depth);
    return Constant(e);
  }

  // min(a, b) is unbounded above only when both are.
  IntSet EvalMinMax(const BinaryNode& e, int depth) {
    const IntSet a = Eval(e.a, depth + 1), b = Eval(e.b, depth + 1);
    const auto either = [&](const Expr& x, const Expr& y) {
      return x && y ? Binary(e.kind, x, y) : x ? x : y;
    };
    if (e.kind == ExprKind::kMin) {
      return {Apply(e.kind, a.min, b.min), either(a.max, b.max)};
    }
    return {either(a.min, b.min), Apply(e.kind, a.max, b.max)};
  }

  IntSet EvalProduct(const BinaryNode& e, int depth) {
    if (Varies(e.b) && Varies(e.a)) return Constant(e);
    const Expr& factor = Varies(e.b) ? e.a : e.b;
    const IntSet set = Eval(Varies(e.b) ? e.b : e.a, depth + 1);
    const ConstBound sign = analyzer_.Bound(factor);
    const Expr low = Apply(e.kind, set.min, factor);
    const Expr high = Apply(e.kind, set.max, factor);
    if (sign.min >= 0) return {low, high};
    if (sign.max <= 0) return {high, low};
    return Constant(e);
  }

  IntSet EvalQuotient(const BinaryNode& e, int depth) {
    if (Varies(e.b) || analyzer_.Bound(e.b).min <= 0) return Constant(e);
    const IntSet set = Eval(e.a, depth + 1);
    return {Apply(e.kind, set.min, e.b), Apply(e.kind, set.max, e.b)};
  }

  // Exact within one period, else all remainders.
  IntSet EvalRemainder(const BinaryNode& e, int depth) {
    if (Varies(e.b) || analyzer_.Bound(e.b).min <= 0) return Constant(e);
    const IntSet set = Eval(e.a, depth + 1);
    const Expr last = analyzer_.Simplify(Sub(e.b, Int(1, e.dtype)));
    if (!set.IsBounded()) return {Int(0, e.dtype), last};
    if (analyzer_.CanProveEqual(FloorDiv(set.min, e.b),
                                FloorDiv(set.max, e.b))) {
      return {FloorMod(set.min, e.b), FloorMod(set.max, e.b)};
    }
    if (analyzer_.CanProve(LE(Int(0, e.dtype), set.min))) {
      return {Int(0, e.dtype), analyzer_.Simplify(Min(last, set.max))};
    }
    return {Int(0, e.dtype), last};
  }

  // The constant bounds of `e`, with every running variable in its range.
  IntSet Constant(const BinaryNode& e) {
    Analyzer local;
    for (const auto& [var, range] : domains_) {
      const ConstBound low = analyzer_.Bound(range.min);
      const ConstBound high = analyzer_.Bound(
          Sub(Add(range.min, range.extent), Int(1, range.min.dtype())));
      if (low.min == ConstBound::kNegInf || high.max == ConstBound::kPosInf) {
        continue;
      }
      local.Bind(Var(var), Range{Int(low.min, var->dtype),
                                 Sub(Int(high.max, var->dtype),
                                     Int(low.min - 1, var->dtype))});
    }
    const ConstBound bound = local.Bound(Expr(&e));
    return {
        bound.min == ConstBound::kNegInf ? nullptr : Int(bound.min, e.dtype),
        bound.max == ConstBound::kPosInf ? nullptr : Int(bound.max, e.dtype)};
  }

  const Domains& domains_;
  Analyzer& analyzer_;
};

IntSet Simplified(IntSet set, Analyzer* analyzer) {
  const bool point = set.min == set.max;
  if (set.min) set.min = analyzer->Simplify(set.min);
  if (set.max) set.max = point ? set.min : analyzer->Simplify(set.max);
  return set;
}

// Adds coefficient * [first, last]; false on overflow.
bool Widen(int64_t coefficient, int64_t first, int64_t last, int64_t* low,
           int64_t* high) {
  if (coefficient < 0) std::swap(first, last);
  int64_t least, most;
  return FoldInt(ExprKind::kMul, coefficient, first, &least) &&
         FoldInt(ExprKind::kMul, coefficient, last, &most) &&
         FoldInt(ExprKind::kAdd, *low, least, low) &&
         FoldInt(ExprKind::kAdd, *high, most, high);
}

// The ends of a digit (v // a % b and the like, or v itself) of a variable that
// runs between constants; nullopt for anything else.
std::optional<ConstBound> EndsOfDigit(const Expr& e, const Domains& domains,
                                      const VarNode** var) {
  if ((*var = e.As<VarNode>())) {
    const auto domain = domains.find(*var);
    if (domain == domains.end()) return std::nullopt;
    const int64_t* min = AsInt(domain->second.min);
    const int64_t* extent = AsInt(domain->second.extent);
    int64_t end;
    if (!min || !extent || *extent < 1 ||
        !FoldInt(ExprKind::kAdd, *min, *extent - 1, &end)) {
      return std::nullopt;
    }
    return ConstBound{*min, end};
  }
  const auto* node = e.As<BinaryNode>();
  const int64_t* divisor = node ? AsInt(node->b) : nullptr;
  if (!divisor || *divisor <= 0) return std::nullopt;
  const bool divides = node->kind == ExprKind::kFloorDiv;
  if (!divides && node->kind != ExprKind::kFloorMod) return std::nullopt;
  const auto inner = EndsOfDigit(node->a, domains, var);
  if (!inner) return std::nullopt;
  return divides ? FloorDivBy(*inner, *divisor) : FloorModBy(*inner, *divisor);
}

// Whether the atoms are variables and at most one digit of another one, and
// each the simplest form of itself: nothing comes of them together.
bool IsSimple(const Linear& sum, Analyzer* analyzer) {
  const Expr* digit = nullptr;
  for (const Term& term : sum.terms) {
    if (analyzer->Simplify(term.atom) != term.atom) return false;
    if (term.atom.As<VarNode>()) continue;
    if (std::exchange(digit, &term.atom)) return false;
  }
  return !digit || std::none_of(sum.terms.begin(), sum.terms.end(),
                                [&](const Term& term) {
                                  const auto* var = term.atom.As<VarNode>();
                                  return var && UsesVar(*digit, Var(var));
                                });
}

// The normal form of a sum of terms that do not vary.
std::optional<Linear> Simplified(Linear sum, Analyzer* analyzer) {
  if (IsSimple(sum, analyzer)) return sum;
  const Expr e = ToExpr(&sum, DType::Index());
  if (!e) return std::nullopt;
  Linear simple;
  Decompose(analyzer->Simplify(e), 1, &simple);
  return simple;
}

Expr Plus(const Expr& sum, int64_t number) {
  if (number < 0) return Sub(sum, Int(-number));
  return number > 0 ? Add(sum, Int(number)) : sum;
}

// `sum` plus `low` and plus `high`, for a sum of terms of which the first is
// positive: both ends begin with the terms, which are made once.
std::optional<IntSet> BetweenPositive(Linear* sum, int64_t low, int64_t high) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  if (low == least || high == least) return std::nullopt;
  const Expr terms = ToExpr(sum, DType::Index());
  if (!terms) return std::nullopt;
  IntSet set{Plus(terms, low), nullptr};
  set.max = low == high ? set.min : Plus(terms, high);
  return set;
}

// A sum plus each of two numbers.
std::optional<IntSet> Between(Linear sum, int64_t low, int64_t high) {
  SortTerms(&sum);
  if (sum.ok && sum.constant == 0 && !sum.terms.empty() &&
      sum.terms[0].coefficient > 0) {
    return BetweenPositive(&sum, low, high);
  }
  Linear last = sum;
  sum.AddConstant(low);
  last.AddConstant(high);
  IntSet set{ToExpr(&sum, DType::Index()), nullptr};
  set.max = low == high ? set.min : ToExpr(&last, DType::Index());
  return set.IsBounded() ? std::optional(set) : std::nullopt;
}

// A sum of multiples of digits of different variables that run between
// constants, whose ends are added up as numbers, and of terms that do not vary.
class PlainSum {
 public:
  explicit PlainSum(const Domains& domains) : domains_(domains) {}

  // Adds scale * e; false where `e` is another kind of sum, or a variable comes
  // twice, which a simplifier has to see first.
  bool Add(const Expr& e, int64_t scale) {
    if (!e.MayUse(domains_.var_bits())) {
      Decompose(e, scale, &rest_);
      return rest_.ok;
    }
    const auto* node = e.As<BinaryNode>();
    if (!node) return AddAtom(e, scale);
    if (node->kind == ExprKind::kAdd) {
      return Add(node->a, scale) && Add(node->b, scale);
    }
    if (node->kind == ExprKind::kSub) {
      int64_t negated;
      return FoldInt(ExprKind::kSub, 0, scale, &negated) &&
             Add(node->a, scale) && Add(node->b, negated);
    }
    const int64_t* factor =
        node->kind == ExprKind::kMul ? AsInt(node->b) : nullptr;
    if (!factor) return AddAtom(e, scale);
    return FoldInt(ExprKind::kMul, scale, *factor, &scale) &&
           Add(node->a, scale);
  }

  std::optional<IntSet> Set(Analyzer* analyzer) && {
    const int64_t constant = std::exchange(rest_.constant, 0);
    if (!Widen(1, constant, constant, &low_, &high_)) return std::nullopt;
    if (rest_.terms.empty()) return IntSet{Int(low_), Int(high_)};
    auto fixed = Simplified(std::move(rest_), analyzer);
    return fixed ? Between(*std::move(fixed), low_, high_) : std::nullopt;
  }

 private:
  bool AddAtom(const Expr& e, int64_t scale) {
    const VarNode* var = nullptr;
    if (const auto ends = EndsOfDigit(e, domains_, &var)) {
      if (std::find(seen_.begin(), seen_.end(), var) != seen_.end()) {
        return false;
      }
      seen_.push_back(var);
      return Widen(scale, ends->min, ends->max, &low_, &high_);
    }
    if (UsesVar(e, domains_)) return false;
    Decompose(e, scale, &rest_);
    return rest_.ok;
  }

  const Domains& domains_;
  int64_t low_ = 0, high_ = 0;
  Linear rest_;
  absl::InlinedVector<const VarNode*, 8> seen_;
};

std::optional<IntSet> EvalPlainSum(const Expr& e, const Domains& domains,
                                   Analyzer* analyzer) {
  PlainSum sum(domains);
  if (e.dtype() != DType::Index() || !sum.Add(e, 1)) return std::nullopt;
  return std::move(sum).Set(analyzer);
}

// Tries `e` as it stands, then simplified: (i + j) - i has to lose i.
IntSet EvalWith(const Expr& e, const Domains& domains, Analyzer* analyzer) {
  if (!e.dtype().is_int() || !e.dtype().is_scalar()) return {};
  if (auto set = EvalPlainSum(e, domains, analyzer)) return *std::move(set);
  const Expr simple = analyzer->Simplify(e);
  if (simple != e) {
    auto set = EvalPlainSum(simple, domains, analyzer);
    if (set) return *std::move(set);
  }
  return Simplified(Evaluator(domains, analyzer).Eval(simple, 0), analyzer);
}

bool IsTrue(const Expr& predicate) {
  return !predicate || IsConst(predicate, 1);
}

// Parts of a predicate: sums of running variables below or above a bound.
void CollectConjuncts(const Expr& predicate, std::vector<Expr>* out) {
  const auto* binary = predicate.As<BinaryNode>();
  if (binary && predicate.kind() == ExprKind::kAnd && out->size() < 64) {
    CollectConjuncts(binary->a, out);
    CollectConjuncts(binary->b, out);
  } else {
    out->push_back(predicate);
  }
}

// The normal form; not ok where there is none.
Linear NormalForm(const Expr& e, Analyzer* analyzer) {
  Linear sum;
  Decompose(analyzer->Simplify(e), 1, &sum);
  return sum;
}

// A conjunct says that slack >= 0, so e + k * slack bounds e from above and
// e - k * slack from below, for any k >= 0. Worth trying are the k that cancel
// a term. `side` is 1 for above and -1 for below; *moved is the sum that bounds
// so far, and *end its largest (smallest) value.
void TightenSide(int side, const Linear& slack, const Domains& domains,
                 Analyzer* analyzer, DType dtype, Linear* moved, Expr* end) {
  for (const Term& term : slack.terms) {
    const int at = moved->ok ? moved->Find(term.atom) : -1;
    if (at < 0 || moved->terms[at].coefficient % term.coefficient != 0) {
      continue;
    }
    const int64_t k = -moved->terms[at].coefficient / term.coefficient;
    if ((k > 0) != (side > 0)) continue;
    Linear sum = *moved;
    sum.Add(slack, k);
    const Expr next = ToExpr(&sum, dtype);
    if (!next) continue;
    const IntSet set = EvalWith(next, domains, analyzer);
    const Expr& reached = side > 0 ? set.max : set.min;
    if (!reached) continue;
    const bool tighter =
        !*end || (side > 0 ? analyzer->CanProveLessEqual(reached, *end)
                           : analyzer->CanProveLessEqual(*end, reached));
    if (!tighter) continue;
    *moved = NormalForm(next, analyzer);
    *end = reached;
  }
}

// b - a where `conjunct` says a <= b; null when it is no such condition.
Expr SlackOf(const Expr& conjunct) {
  const auto* compare = conjunct.As<BinaryNode>();
  if (!compare || !compare->a.dtype().is_int() ||
      !compare->a.dtype().is_scalar()) {
    return nullptr;
  }
  const Expr &a = compare->a, &b = compare->b;
  const Expr one = Int(1, a.dtype());
  if (compare->kind == ExprKind::kLT) return Sub(Sub(b, a), one);
  if (compare->kind == ExprKind::kLE) return Sub(b, a);
  if (compare->kind == ExprKind::kGT) return Sub(Sub(a, b), one);
  if (compare->kind == ExprKind::kGE) return Sub(a, b);
  return nullptr;
}

// The sum that a conjunct of a predicate keeps at 0 or above.
struct Slack {
  DType dtype;
  Linear sum;
};

std::vector<Slack> SlacksOf(const Expr& predicate, Analyzer* analyzer) {
  std::vector<Slack> slacks;
  if (IsTrue(predicate)) return slacks;
  std::vector<Expr> conjuncts;
  CollectConjuncts(predicate, &conjuncts);
  for (const Expr& conjunct : conjuncts) {
    const Expr difference = SlackOf(conjunct);
    if (!difference) continue;
    Linear sum = NormalForm(difference, analyzer);
    if (sum.ok) slacks.push_back({difference.dtype(), std::move(sum)});
  }
  return slacks;
}

IntSet EvalWithin(const Expr& e, const Domains& domains,
                  const std::vector<Slack>& slacks, Analyzer* analyzer) {
  IntSet set = EvalWith(e, domains, analyzer);
  if (slacks.empty()) return set;
  Linear above = NormalForm(e, analyzer), below = above;
  for (const auto& [dtype, slack] : slacks) {
    if (dtype != e.dtype()) continue;
    TightenSide(1, slack, domains, analyzer, dtype, &above, &set.max);
    TightenSide(-1, slack, domains, analyzer, dtype, &below, &set.min);
  }
  return set;
}

Expr AddOne(const Expr& e) { return Add(e, Int(1, e.dtype())); }

}  // namespace

IntSet EvalSet(const Expr& e, const Domains& domains, Analyzer* analyzer) {
  return EvalWith(e, domains, analyzer);
}

IntSet UnionSet(const IntSet& a, const IntSet& b, Analyzer* analyzer) {
  IntSet set;
  if (a.min && b.min) set.min = analyzer->Simplify(Min(a.min, b.min));
  if (a.max && b.max) set.max = analyzer->Simplify(Max(a.max, b.max));
  return set;
}

std::optional<Range> ToRange(const IntSet& set, Analyzer* analyzer) {
  if (!set.IsBounded()) return std::nullopt;
  return Range{analyzer->Simplify(set.min),
               analyzer->Simplify(AddOne(Sub(set.max, set.min)))};
}

IntSet EvalSet(const Expr& e, const Domains& domains, const Expr& predicate,
               Analyzer* analyzer) {
  return EvalWithin(e, domains, SlacksOf(predicate, analyzer), analyzer);
}

std::vector<IntSet> EvalRegion(const std::vector<Range>& region,
                               const Domains& domains, const Expr& predicate,
                               Analyzer* analyzer) {
  const std::vector<Slack> slacks = SlacksOf(predicate, analyzer);
  std::vector<IntSet> box;
  box.reserve(region.size());
  for (const Range& range : region) {
    IntSet set = EvalWithin(range.min, domains, slacks, analyzer);
    if (!IsOne(range.extent)) {
      const Expr last =
          Sub(Add(range.min, range.extent), Int(1, range.extent.dtype()));
      set.max = EvalWithin(last, domains, slacks, analyzer).max;
    }
    box.push_back(std::move(set));
  }
  return box;
}

}  // namespace kiln
