// A dimension of the touched region is an index e(v0, v1, ...) and an extent.
// It is taken apart from the outside in:
//
//   v          in [lo, hi]   gives   v in [lo, hi]
//   v*c + d    in [lo, hi]   gives   v in [ceil((lo-d)/c), floor((hi-d)/c)]
//   v // c     in [lo, hi]   gives   v in [lo*c, hi*c + c-1]
//   v*c + w    with w within one period of c gives v, and w where v is fixed
//
// Indices that are digits of one number give it together, as far as the higher
// ones are fixed: v // 16 in [q, q] and v % 16 in [lo, hi] give v in
// [q*16 + lo, q*16 + hi].
#include "kiln/schedule/rewrite/block_domain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kiln/base/check.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

// Multiples of iterators, and the rest of a sum, which uses none.
struct Sum {
  std::vector<Term> terms;
  Expr rest = Int(0);
};

// An index `number // scale % modulus`; without a modulus the highest digit.
struct Digit {
  Expr number;
  int64_t scale = 1;
  std::optional<int64_t> modulus;
  size_t dimension = 0;
};

// Takes `e // c` or `e % c` with a positive constant apart.
std::optional<std::pair<Expr, int64_t>> Operands(const Expr& e, ExprKind kind) {
  const auto* binary = e.As<BinaryNode>();
  if (!binary || binary->kind != kind) return std::nullopt;
  const int64_t* constant = AsInt(binary->b);
  if (!constant || *constant <= 0) return std::nullopt;
  return std::pair(binary->a, *constant);
}

std::optional<Digit> DigitOf(const Expr& index, size_t dimension) {
  Digit digit{index, 1, std::nullopt, dimension};
  if (const auto rest = Operands(index, ExprKind::kFloorMod)) {
    digit.number = rest->first;
    digit.modulus = rest->second;
  }
  if (const auto quotient = Operands(digit.number, ExprKind::kFloorDiv)) {
    digit.number = quotient->first;
    digit.scale = quotient->second;
  }
  if (!digit.modulus && digit.scale == 1) return std::nullopt;
  return digit;
}

// The digit right below one of `scale`; nullptr: none.
const Digit* NextDigit(const std::vector<Digit>& digits, const Digit& above) {
  for (const Digit& digit : digits) {
    int64_t period;
    if (digit.modulus && SameExpr(digit.number, above.number) &&
        FoldInt(ExprKind::kMul, digit.scale, *digit.modulus, &period) &&
        period == above.scale) {
      return &digit;
    }
  }
  return nullptr;
}

class Narrowing {
 public:
  Narrowing(const BlockNode& block, IterDomains* domains, Analyzer* analyzer)
      : block_(block), domains_(*domains), analyzer_(*analyzer) {}

  // Records e in [set.min, set.max] for the iterators in `e`.
  void Require(const Expr& e, const IntSet& set) {
    if (!set.IsBounded()) return;
    if (const auto* var = e.As<VarNode>()) return Intersect(Var(var), set);
    const auto* binary = e.As<BinaryNode>();
    const int64_t* divisor = binary ? AsInt(binary->b) : nullptr;
    if (divisor && *divisor > 0 && binary->kind == ExprKind::kFloorDiv) {
      return Require(binary->a,
                     {Mul(set.min, binary->b),
                      Add(Mul(set.max, binary->b), Int(*divisor - 1))});
    }
    if (std::optional<Sum> sum = Split(e)) RequireSum(*sum, set);
  }

  // Records what `required` asks of `top` and of the digits below it. Says
  // which dimensions that takes: none where the highest digit alone tells.
  std::vector<size_t> RequireDigits(const Digit& top,
                                    const std::vector<Digit>& digits,
                                    const std::vector<IntSet>& required) {
    std::vector<size_t> used = {top.dimension};
    IntSet set = required[top.dimension];
    const Digit* last = &top;
    while (analyzer_.CanProveEqual(set.min, set.max)) {
      const Digit* next = NextDigit(digits, *last);
      if (!next) break;
      const Expr above = Mul(set.min, Int(*next->modulus));
      const IntSet& digit = required[next->dimension];
      set = {analyzer_.Simplify(Add(above, digit.min)),
             analyzer_.Simplify(Add(above, digit.max))};
      used.push_back(next->dimension);
      last = next;
    }
    if (used.size() == 1) return {};
    const Expr scale = Int(last->scale);
    Require(top.number, {Mul(set.min, scale),
                         Add(Mul(set.max, scale), Int(last->scale - 1))});
    return used;
  }

 private:
  const IterVar* FindIter(const Expr& e) const {
    for (const IterVar& iter : block_.iters) {
      if (iter.var == e) return &iter;
    }
    return nullptr;
  }

  bool UsesIter(const Expr& e) const {
    return UsesVar(e, [&](const VarNode* var) { return FindIter(Var(var)); });
  }

  // The largest multiple first; nullopt when an iterator occurs in another way,
  // or falls.
  std::optional<Sum> Split(const Expr& e) const {
    Linear linear;
    Decompose(e, 1, &linear);
    Sum sum;
    for (const Term& term : linear.terms) {
      if (!UsesIter(term.atom)) {
        sum.rest = Add(sum.rest, Mul(term.atom, Int(term.coefficient)));
      } else if (term.atom.As<VarNode>() && term.coefficient > 0) {
        sum.terms.push_back(term);
      } else {
        return std::nullopt;
      }
    }
    if (!linear.ok || sum.terms.empty()) return std::nullopt;
    sum.rest = Add(sum.rest, Int(linear.constant));
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const Term& a, const Term& b) {
                return a.coefficient > b.coefficient;
              });
    return sum;
  }

  // The largest term first: what the smaller ones add at most widens its set.
  void RequireSum(const Sum& sum, const IntSet& set) {
    const Term& largest = sum.terms[0];
    Expr low = Sub(set.min, sum.rest), high = Sub(set.max, sum.rest);
    Expr smaller_min = Int(0), smaller_max = Int(0);
    for (size_t i = 1; i < sum.terms.size(); ++i) {
      const IterVar* iter = FindIter(sum.terms[i].atom);
      const Expr scale = Int(sum.terms[i].coefficient);
      const Range& domain = iter->domain;
      smaller_min = Add(smaller_min, Mul(domain.min, scale));
      smaller_max = Add(
          smaller_max, Mul(Sub(Add(domain.min, domain.extent), Int(1)), scale));
    }
    const Expr scale = Int(largest.coefficient);
    const Expr up = Int(largest.coefficient - 1);
    IntSet quotient{FloorDiv(Add(Sub(low, smaller_max), up), scale),
                    FloorDiv(Sub(high, smaller_min), scale)};
    quotient = {analyzer_.Simplify(quotient.min),
                analyzer_.Simplify(quotient.max)};
    Intersect(Var(largest.atom.As<VarNode>()), quotient);
    const bool fixed = analyzer_.CanProveEqual(quotient.min, quotient.max);
    if (sum.terms.size() == 2 && fixed) {
      const Expr taken = Mul(quotient.min, scale);
      RequireSum({{sum.terms[1]}, Int(0)}, {Sub(low, taken), Sub(high, taken)});
    }
  }

  void Intersect(const Var& var, const IntSet& set) {
    const IterVar* iter = FindIter(var);
    if (!iter) return;
    IntSet& domain = domains_[iter - block_.iters.data()];
    if (!domain.IsBounded()) {
      domain = {analyzer_.Simplify(set.min), analyzer_.Simplify(set.max)};
      return;
    }
    domain = {analyzer_.Simplify(Max(domain.min, set.min)),
              analyzer_.Simplify(Min(domain.max, set.max))};
  }

  const BlockNode& block_;
  IterDomains& domains_;
  Analyzer& analyzer_;
};

// The values that `iter` runs through: what is required of it, or its whole
// domain where nothing is, or where the domain is known to be smaller.
Range RunOf(const IterVar& iter, const IntSet& required, Analyzer* analyzer) {
  if (!required.IsBounded()) return iter.domain;
  const Expr last = Sub(Add(iter.domain.min, iter.domain.extent), Int(1));
  const bool too_wide =
      analyzer->CanProveLessEqual(required.min, iter.domain.min) &&
      analyzer->CanProveLessEqual(last, required.max);
  if (too_wide) return iter.domain;
  return {analyzer->Simplify(required.min),
          analyzer->Simplify(Add(Sub(required.max, required.min), Int(1)))};
}

// a and b, without what is known.
Expr Both(const Expr& a, const Expr& b) {
  const int64_t* known_a = AsInt(a);
  if (known_a) return *known_a ? b : a;
  const int64_t* known_b = AsInt(b);
  if (known_b) return *known_b ? a : b;
  return And(a, b);
}

// value in the domain of `iter`, as far as it is not known anyway.
Expr Within(const IterVar& iter, const Expr& value, Analyzer* analyzer) {
  const int64_t* min = AsInt(iter.domain.min);
  const int64_t* extent = AsInt(iter.domain.extent);
  int64_t past;
  if (min && extent && FoldInt(ExprKind::kAdd, *min, *extent, &past)) {
    const ConstBound bound = analyzer->Bound(value);
    if (bound.min >= *min && bound.max < past) return Bool(true);
  }
  const Expr not_below = LE(iter.domain.min, value);
  const Expr end = analyzer->Simplify(Add(iter.domain.min, iter.domain.extent));
  const Expr below = LT(value, end);
  const auto unless_known = [&](const Expr& e) {
    return analyzer->CanProve(e) ? Bool(true) : analyzer->Simplify(e);
  };
  return Both(unless_known(not_below), unless_known(below));
}

// The most that `extent` comes to in any iteration of the block; null where
// that is not known.
Expr MostOf(const Expr& extent, const BlockNode& block, Analyzer* analyzer) {
  if (AsInt(extent)) return extent;
  Domains domains;
  for (const IterVar& iter : block.iters) {
    domains.emplace(iter.var.get(), iter.domain);
  }
  return EvalSet(extent, domains, analyzer).max;
}

}  // namespace

void NarrowDomains(const BlockNode& block, const BufferRegion& touched,
                   const std::vector<IntSet>& required, IterDomains* domains,
                   Analyzer* analyzer) {
  KILN_CHECK_EQ(touched.region.size(), required.size());
  Narrowing narrowing(block, domains, analyzer);
  std::vector<Digit> digits;
  for (size_t i = 0; i < required.size(); ++i) {
    if (!required[i].IsBounded() || !IsOne(touched.region[i].extent)) continue;
    if (auto digit = DigitOf(touched.region[i].min, i)) {
      digits.push_back(*std::move(digit));
    }
  }
  std::vector<bool> done(required.size(), false);
  for (const Digit& digit : digits) {
    if (digit.modulus) continue;
    for (size_t i : narrowing.RequireDigits(digit, digits, required)) {
      done[i] = true;
    }
  }
  for (size_t i = 0; i < required.size(); ++i) {
    if (!required[i].IsBounded() || done[i]) continue;
    const Range& range = touched.region[i];
    // [index, index + extent) meets [lo, hi] for index in [lo-extent+1, hi].
    const Expr most = MostOf(range.extent, block, analyzer);
    if (!most) continue;
    const Expr reach = Sub(most, Int(1));
    narrowing.Require(range.min,
                      {Sub(required[i].min, reach), required[i].max});
  }
}

bool SameDomains(const IterDomains& a, const IterDomains& b) {
  const auto same = [](const Expr& x, const Expr& y) {
    return x.get() == y.get() || (x && y && SameExpr(x, y));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const IntSet& x, const IntSet& y) {
                      return same(x.min, y.min) && same(x.max, y.max);
                    });
}

Stmt LoopsOver(const Block& block, const IterDomains& domains, bool unit_loops,
               Analyzer* analyzer, FunctionRef<LoopId()> new_id) {
  std::vector<std::pair<Var, Expr>> loops;
  std::vector<Expr> values;
  for (size_t i = 0; i < block->iters.size(); ++i) {
    const Range run = RunOf(block->iters[i], domains[i], analyzer);
    if (!unit_loops && IsOne(run.extent)) {
      values.push_back(run.min);
      continue;
    }
    Var var("ax" + std::to_string(loops.size()));
    loops.emplace_back(var, run.extent);
    analyzer->Bind(var, Range{Int(0), run.extent});
    values.push_back(IsZero(run.min) ? Expr(var) : Add(run.min, var));
  }
  Expr predicate = Bool(true);
  for (size_t i = 0; i < values.size(); ++i) {
    predicate = Both(predicate, Within(block->iters[i], values[i], analyzer));
  }
  std::vector<LoopId> ids;
  for (size_t i = 0; i < loops.size(); ++i) ids.push_back(new_id());
  Stmt stmt = MakeRealize(std::move(values), predicate, block);
  for (size_t i = loops.size(); i-- > 0;) {
    stmt = MakeFor(ids[i], loops[i].first, loops[i].second, stmt);
  }
  return stmt;
}

}  // namespace kiln
