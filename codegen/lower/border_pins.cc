#include "kiln/codegen/lower/border_pins.h"

#include <algorithm>

#include "kiln/ir/arith/interval.h"

namespace kiln::lower {

std::optional<Values> ValuesOf(const ForNode& loop) {
  const int64_t* min = AsInt(loop.min);
  const int64_t* extent = AsInt(loop.extent);
  if (!min || !extent || *extent <= 0) return std::nullopt;
  return Values{*min, *min + *extent - 1};
}

namespace {

// The values of an index expression over `loops`.
std::optional<Values> ValuesIn(const Expr& e, const LoopStack& loops) {
  for (const ForNode* loop : loops) {
    if (loop->var.get() == e.get()) return ValuesOf(*loop);
  }
  const auto* node = e.As<BinaryNode>();
  if (!node) return std::nullopt;
  const int64_t* divisor = AsInt(node->b);
  if (!divisor || *divisor <= 0) return std::nullopt;
  const std::optional<Values> a = ValuesIn(node->a, loops);
  if (e.kind() == ExprKind::kFloorDiv) {
    if (!a) return std::nullopt;
    return Values{FloorQuotient(a->first, *divisor),
                  FloorQuotient(a->last, *divisor)};
  }
  if (e.kind() != ExprKind::kFloorMod) return std::nullopt;
  if (a && a->first >= 0 && a->last < *divisor) return a;
  return Values{0, *divisor - 1};
}

// The only value of `term` where margin < 0; nullopt when there are several.
std::optional<int64_t> OnlyValue(const LinearForm& margin,
                                 const LinearTerm& term,
                                 const LoopStack& loops) {
  int64_t least_rest = margin.constant;
  for (const LinearTerm& other : margin.terms) {
    if (&other == &term) continue;
    const std::optional<Values> values = ValuesIn(other.atom, loops);
    if (!values) return std::nullopt;
    least_rest += other.coefficient *
                  (other.coefficient > 0 ? values->first : values->last);
  }
  std::optional<Values> values = ValuesIn(term.atom, loops);
  if (!values) return std::nullopt;
  const int64_t most = -1 - least_rest;  // of coefficient * atom
  if (term.coefficient > 0) {
    values->last =
        std::min(values->last, FloorQuotient(most, term.coefficient));
  } else {
    values->first =
        std::max(values->first, -FloorQuotient(most, -term.coefficient));
  }
  if (values->first != values->last) return std::nullopt;
  return values->first;
}

}  // namespace

std::vector<Pin> PinsInBorder(const LinearForm& margin,
                              const LoopStack& loops) {
  std::vector<Pin> pins;
  for (const LinearTerm& term : margin.terms) {
    if (std::optional<int64_t> value = OnlyValue(margin, term, loops)) {
      pins.push_back({term.atom, *value});
    }
  }
  return pins;
}

}  // namespace kiln::lower
