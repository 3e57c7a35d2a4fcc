#include "kiln/codegen/lower/guards/loop_values.h"

#include <algorithm>

#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {

bool GoesRound(const Stmt& s) {
  bool found = false;
  Visit(s, [&](const Stmt& inner) {
    const auto* loop = inner.As<ForNode>();
    found |= loop && loop->for_kind != ForKind::kUnrolled &&
             loop->for_kind != ForKind::kVectorized;
    return !found;
  });
  return found;
}

std::optional<Values> ValuesOf(const ForNode& loop, const FewerValues& fewer) {
  if (auto found = fewer.find(loop.var.get()); found != fewer.end()) {
    return found->second;
  }
  const int64_t* min = AsInt(loop.min);
  const int64_t* extent = AsInt(loop.extent);
  if (!min || !extent || *extent <= 0) return std::nullopt;
  return Values{*min, *min + *extent - 1};
}

namespace {

// Of a loop that goes round so many times for each of an unknown number:
// f // n for f in range(n * 21) is one of 21.
std::optional<Values> QuotientsOf(const Expr& var, const Expr& divisor,
                                  const LoopStack& loops) {
  for (const ForNode* loop : loops) {
    if (loop->var.get() != var.get() || !IsZero(loop->min)) continue;
    const Linear extent = ToLinear(loop->extent);
    if (extent.ok && extent.terms.size() == 1 && extent.constant == 0 &&
        extent.terms[0].coefficient > 0 &&
        SameExpr(extent.terms[0].atom, divisor)) {
      return Values{0, extent.terms[0].coefficient - 1};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Values> ValuesIn(const Expr& e, const LoopStack& loops,
                               const FewerValues& fewer) {
  for (const ForNode* loop : loops) {
    if (loop->var.get() == e.get()) return ValuesOf(*loop, fewer);
  }
  const auto* node = e.As<BinaryNode>();
  if (!node) return std::nullopt;
  const int64_t* divisor = AsInt(node->b);
  if (!divisor && e.kind() == ExprKind::kFloorDiv) {
    return QuotientsOf(node->a, node->b, loops);
  }
  if (!divisor || *divisor <= 0) return std::nullopt;
  const std::optional<Values> a = ValuesIn(node->a, loops, fewer);
  if (e.kind() == ExprKind::kFloorDiv) {
    if (!a) return std::nullopt;
    return Values{FloorQuotient(a->first, *divisor),
                  FloorQuotient(a->last, *divisor)};
  }
  if (e.kind() != ExprKind::kFloorMod) return std::nullopt;
  if (a && a->first >= 0 && a->last < *divisor) return a;
  return Values{0, *divisor - 1};
}

std::optional<Linear> Extreme(const Linear& form, const LoopStack& loops,
                              size_t from, int sign, const FewerValues& fewer) {
  Linear out;
  out.constant = form.constant;
  for (const Term& term : form.terms) {
    const auto* var = term.atom.As<VarNode>();
    auto binds = [&](const ForNode* loop) { return loop->var.get() == var; };
    auto loop = std::find_if(loops.begin() + from, loops.end(), binds);
    std::optional<Values> values;
    if (loop != loops.end()) {
      values = ValuesOf(**loop, fewer);
      if (!values) return std::nullopt;
    } else if (from == 0) {
      values = ValuesIn(term.atom, loops, fewer);
    }
    if (!values) {
      out.terms.push_back(term);
      continue;
    }
    const bool low = (term.coefficient > 0) == (sign > 0);
    out.AddConstant(low ? values->first : values->last, term.coefficient);
  }
  return out.ok ? std::make_optional(std::move(out)) : std::nullopt;
}

namespace {

// The values that form >= 0 leaves to `term`; nullopt when it leaves all, or
// none.
std::optional<Values> ValuesLeft(const Linear& form, const Term& term,
                                 const LoopStack& loops,
                                 const FewerValues& fewer) {
  Linear most_rest;
  most_rest.constant = form.constant;
  for (const Term& other : form.terms) {
    if (&other == &term) continue;
    const std::optional<Values> values = ValuesIn(other.atom, loops, fewer);
    if (!values) return std::nullopt;
    most_rest.AddConstant(other.coefficient > 0 ? values->last : values->first,
                          other.coefficient);
  }
  if (!most_rest.ok) return std::nullopt;
  const std::optional<Values> all = ValuesIn(term.atom, loops, fewer);
  if (!all) return std::nullopt;
  Values left = *all;
  if (term.coefficient > 0) {
    left.first = std::max(left.first,
                          -FloorQuotient(most_rest.constant, term.coefficient));
  } else {
    left.last = std::min(left.last,
                         FloorQuotient(most_rest.constant, -term.coefficient));
  }
  const bool is_all = left.first == all->first && left.last == all->last;
  if (left.first > left.last) return std::nullopt;
  return is_all && left.first != left.last ? std::nullopt
                                           : std::make_optional(left);
}

}  // namespace

std::vector<AtomValues> ValuesWhere(const Linear& form, const LoopStack& loops,
                                    const FewerValues& fewer) {
  std::vector<AtomValues> found;
  for (const Term& term : form.terms) {
    if (auto values = ValuesLeft(form, term, loops, fewer)) {
      found.push_back({term.atom, *values});
    }
  }
  return found;
}

}  // namespace kiln::lower
