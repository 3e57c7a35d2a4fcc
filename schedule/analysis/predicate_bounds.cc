// With index = m * diff + rest, where the condition says diff < 0 and rest lies
// within [r0, r0 + |m|): for m > 0 it holds exactly where index < r0, and for
// m < 0 exactly where index >= r0 + |m|. Or with diff = c * index + rest, where
// ceil(-rest / c) stands still: it holds exactly where index is less, for c >
// 0. Of (i*4 + j)*16 + k < n*16 with k in [0, 16) that is i*4 + j < n.
#include "kiln/schedule/analysis/predicate_bounds.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

using Loops = std::vector<const ForNode*>;

// What is below 0 exactly where the condition holds; null for other conditions.
Expr NegativeWhere(const Expr& condition) {
  const auto* node = condition.As<BinaryNode>();
  if (!node || !node->a.dtype().is_int() || !node->a.dtype().is_scalar()) {
    return nullptr;
  }
  const Expr one = Int(1, node->a.dtype());
  if (node->kind == ExprKind::kLT) return Sub(node->a, node->b);
  if (node->kind == ExprKind::kLE) return Sub(Sub(node->a, node->b), one);
  if (node->kind == ExprKind::kGT) return Sub(node->b, node->a);
  if (node->kind == ExprKind::kGE) return Sub(Sub(node->b, node->a), one);
  return nullptr;
}

Domains DomainsOf(const Loops& loops) {
  Domains domains;
  for (const ForNode* loop : loops) {
    domains[loop->var.get()] = {loop->min, loop->extent};
  }
  return domains;
}

bool UsesAny(const Expr& e, const Loops& loops) {
  return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
    return UsesVar(e, loop->var);
  });
}

bool Moves(const ForNode& loop, const std::vector<Range>& region) {
  return std::any_of(region.begin(), region.end(), [&](const Range& range) {
    return UsesVar(range.min, loop.var) || UsesVar(range.extent, loop.var);
  });
}

// The predicate of one block, conjunct by conjunct.
class Limiter {
 public:
  Limiter(const ScopeBlock& block, const std::vector<Range>& region,
          size_t depth)
      : region_(region) {
    for (size_t i = 0; i < block.loops.size(); ++i) {
      const ForNode* loop = block.loops[i];
      analyzer_.Bind(loop->var, {loop->min, loop->extent});
      if (i < depth) continue;
      if (Moves(*loop, region)) {
        moving_.push_back(loop);
      } else {
        first_[loop->var.get()] = loop->min;
      }
    }
  }

  void Add(const Expr& condition) {
    for (const Expr& conjunct : ConjunctsOf(condition)) {
      limits_.complete = AddConjunct(conjunct) && limits_.complete;
    }
  }

  PredicateBounds Take() && { return std::move(limits_); }

 private:
  // Whether it could tell what the conjunct leaves out.
  bool AddConjunct(const Expr& conjunct) {
    const std::optional<Expr> part = AtFirst(conjunct);
    if (!part) return false;
    if (IsOne(*part)) return true;
    if (!UsesAny(*part, moving_)) {
      limits_.runs = IsOne(limits_.runs) ? *part : And(limits_.runs, *part);
      return true;
    }
    for (size_t dim = 0; dim < region_.size(); ++dim) {
      auto cut = PredicateBoundAlong(*part, region_[dim], moving_, &analyzer_);
      if (!cut) continue;
      cut->dim = dim;
      limits_.cuts.push_back(*std::move(cut));
      return true;
    }
    return false;
  }

  // The conjunct in the first iteration of the loops that only repeat what is
  // written. It has to hold there where it holds in any.
  std::optional<Expr> AtFirst(const Expr& conjunct) {
    if (!UsesVar(conjunct, first_)) return conjunct;
    const Expr at_first = analyzer_.Simplify(Substitute(conjunct, first_));
    if (analyzer_.CanProve(at_first)) return Bool(true);
    const auto held = analyzer_.Assume(conjunct);
    if (!analyzer_.CanProve(at_first) || UsesVar(at_first, first_)) {
      return std::nullopt;
    }
    return at_first;
  }

  const std::vector<Range>& region_;
  Analyzer analyzer_;
  Loops moving_;  // the region
  VarMap first_;  // of the other loops from `depth` on
  PredicateBounds limits_;
};

// The cut of c * index + rest < 0; nullopt where the rest moves so far that the
// cut would move with it.
std::optional<PredicateBound> CutOfMultiple(const Expr& diff, int64_t c,
                                            const Expr& index,
                                            const Domains& domains,
                                            Analyzer* analyzer) {
  const Expr rest = analyzer->Simplify(Sub(diff, Mul(index, Int(c))));
  const IntSet rests = EvalSet(rest, domains, analyzer);
  if (!rests.IsBounded()) return std::nullopt;
  const Expr by = Int(std::abs(c));
  const auto at = [&](const Expr& value) {
    return analyzer->Simplify(c < 0 ? Add(FloorDiv(value, by), Int(1))
                                    : FloorDiv(Sub(Int(c - 1), value), by));
  };
  const Expr cut = at(rests.min);
  if (rests.max != rests.min && !analyzer->CanProveEqual(cut, at(rests.max))) {
    return std::nullopt;
  }
  return c < 0 ? PredicateBound{0, cut, nullptr}
               : PredicateBound{0, nullptr, cut};
}

}  // namespace

std::optional<PredicateBound> PredicateBoundAlong(const Expr& condition,
                                                  const Range& range,
                                                  const Loops& loops,
                                                  Analyzer* analyzer) {
  const Expr diff = NegativeWhere(condition);
  const int64_t* size = AsInt(range.extent);
  if (!diff || !size) return std::nullopt;
  const Domains domains = DomainsOf(loops);
  for (const ForNode* loop : loops) {
    const auto by = StrideOf(diff, loop->var, analyzer);
    const auto along = StrideOf(range.min, loop->var, analyzer);
    if (!by || !along || *by == 0 || *along == 0) continue;
    if (*by % *along == 0 && *size == 1) {
      const int64_t c = *by / *along;
      auto cut = CutOfMultiple(diff, c, range.min, domains, analyzer);
      if (cut) return cut;
    }
    if (*along % *by != 0) continue;
    const int64_t m = *along / *by;
    const Expr rest = analyzer->Simplify(Sub(range.min, Mul(diff, Int(m))));
    const IntSet set = EvalSet(rest, domains, analyzer);
    if (!set.IsBounded()) continue;
    const Expr span = analyzer->Simplify(Sub(set.max, set.min));
    const int64_t* width = AsInt(span);
    if (!width || *width + *size > std::abs(m)) continue;
    if (m > 0) return PredicateBound{0, nullptr, set.min};
    return PredicateBound{0, analyzer->Simplify(Add(set.min, Int(-m))),
                          nullptr};
  }
  return std::nullopt;
}

PredicateBounds PredicateBoundsOf(const ScopeBlock& block,
                                  const std::vector<Range>& region,
                                  size_t depth) {
  if (IsOne(block.realize->predicate)) return {};
  Limiter limiter(block, region, depth);
  limiter.Add(block.realize->predicate);
  return std::move(limiter).Take();
}

}  // namespace kiln
