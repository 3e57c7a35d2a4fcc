#include "kiln/codegen/lower/loop_limits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kiln/codegen/lower/condition.h"
#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

bool LoadsOrCalls(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& x) {
    found = found || x.kind() == ExprKind::kLoad || x.As<CallNode>();
    return !found;
  });
  return found;
}

std::optional<Limit> LimitOf(const Expr& conjunct, const Var& var) {
  if (LoadsOrCalls(conjunct)) return std::nullopt;
  std::optional<Condition> condition = AsCondition(conjunct);
  if (!condition || condition->test != Test::kNonNegative) return std::nullopt;
  LinearForm rest = std::move(condition->form);
  const int64_t factor = rest.Coefficient(var.get());
  const auto is_var = [&](const VarNode* other) { return other == var.get(); };
  if ((factor != 1 && factor != -1) || rest.HidesVar(is_var)) {
    return std::nullopt;
  }
  rest.terms.erase(
      std::find_if(rest.terms.begin(), rest.terms.end(),
                   [&](const auto& term) { return term.atom == var; }));
  if (factor == 1) {
    for (LinearTerm& term : rest.terms) term.coefficient *= -1;
    rest.constant *= -1;
  }
  return Limit{factor == 1, Normalizer().Build(std::move(rest))};
}

// The iterations of a loop that conjuncts leave, and those that say no more
// about its variable.
struct Bounds {
  Expr first, end;  // end - first may be negative
  Expr rest;        // null: none
  bool narrower = false;

  void Add(const Limit& limit) {
    narrower = true;
    if (limit.is_lower) {
      first = Max(first, limit.value);
    } else {
      end = Min(end, kiln::Add(limit.value, Int(1)));
    }
  }
};

}  // namespace

Stmt NarrowLoop(const ForNode& loop, FunctionRef<bool(const Limit&)> takes) {
  const auto* branch = loop.body.As<IfNode>();
  if (!branch || branch->else_case) return nullptr;
  Bounds bounds{loop.min, Add(loop.min, loop.extent), nullptr};
  for (const Expr& conjunct : ConjunctsOf(branch->condition)) {
    const std::optional<Limit> limit = LimitOf(conjunct, loop.var);
    if (limit && takes(*limit)) {
      bounds.Add(*limit);
    } else {
      bounds.rest = Conjunction(bounds.rest, conjunct);
    }
  }
  if (!bounds.narrower) return nullptr;
  Normalizer normalizer;
  ForFields fields = loop.fields();
  fields.min = normalizer.Run(bounds.first);
  fields.extent = normalizer.Run(Max(Sub(bounds.end, bounds.first), Int(0)));
  fields.body =
      bounds.rest ? MakeIf(bounds.rest, branch->then_case) : branch->then_case;
  return MakeFor(std::move(fields));
}

}  // namespace kiln::lower
