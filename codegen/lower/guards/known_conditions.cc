#include "kiln/codegen/lower/guards/known_conditions.h"

#include <cstdint>
#include <numeric>
#include <unordered_set>

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/ir/expr/same.h"

namespace kiln::lower {

double Coverage(const Linear& form, const LoopStack& loops,
                const FewerValues& fewer) {
  std::optional<Linear> low = Extreme(form, loops, 0, 1, fewer);
  std::optional<Linear> high = Extreme(form, loops, 0, -1, fewer);
  if (!low || !high || !low->is_constant() || !high->is_constant()) return 1;
  if (low->constant >= 0) return 1;
  if (high->constant < 0) return 0;
  int64_t step = 0;
  for (const Term& term : form.terms) step = std::gcd(step, term.coefficient);
  const int64_t held = high->constant / step + 1;
  return held / ((1.0 * high->constant - low->constant) / step + 1);
}

std::optional<bool> CertainAt(const Site& site, const FewerValues& fewer) {
  const std::optional<Condition> condition = AsCondition(site.conjunct);
  if (!condition) return std::nullopt;
  const auto low = Extreme(condition->form, site.loops, 0, 1, fewer);
  const auto high = Extreme(condition->form, site.loops, 0, -1, fewer);
  const bool is_low = low && low->is_constant();
  const bool is_high = high && high->is_constant();
  if (is_high && high->constant < 0) return false;
  if (condition->test == Test::kNonNegative) {
    if (is_low && low->constant >= 0) return true;
    return std::nullopt;
  }
  if (is_low && low->constant > 0) return false;
  if (is_low && is_high && low->constant == 0 && high->constant == 0)
    return true;
  return std::nullopt;
}

Known CertainIn(const Stmt& body, const LoopStack& loops,
                const FewerValues& fewer) {
  Known known;
  std::unordered_set<const ExprNode*> refused;
  const ConditionSites conditions = FindConditionSites(body, loops);
  for (const Site& site : conditions.sites) {
    const std::optional<bool> value = CertainAt(site, fewer);
    const bool is_same =
        value &&
        known.emplace(site.conjunct.get(), *value).first->second == *value;
    if (!is_same) refused.insert(site.conjunct.get());
  }
  for (const ExprNode* conjunct : refused) known.erase(conjunct);
  return known;
}

Stmt ResolveKnown(const Stmt& body, const Known& known) {
  return FoldKnownConditions(body, [&](const Expr& e) {
    auto found = known.find(e.get());
    return found == known.end() ? Expr() : Bool(found->second);
  });
}

Stmt ResolvePins(const Stmt& body, const std::vector<AtomValues>& pins) {
  return FoldKnownConditions(body, [&](const Expr& e) {
    for (const AtomValues& pin : pins) {
      if (SameExpr(e, pin.atom)) return Int(pin.values.first);
    }
    return Expr();
  });
}

}  // namespace kiln::lower
