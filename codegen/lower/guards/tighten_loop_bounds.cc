#include "kiln/codegen/lower/guards/tighten_loop_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::Condition;

// Whether the loop adds to the same elements again and again, in loops of its
// own.
bool RunsOverTerms(const ForNode& loop) {
  bool stays = true, has_loops = false;
  Visit(loop.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      for (const Expr& index : store->indices) {
        stays = stays && !UsesVar(index, loop.var);
      }
    }
    const auto* inner = s.As<ForNode>();
    has_loops = has_loops || (inner && inner->for_kind == ForKind::kSerial);
    return stays;
  });
  return stays && has_loops;
}

// What a conjunct asks of a loop variable: to be at least or at most `value`.
struct Limit {
  bool is_lower;
  Expr value;
};

std::optional<Limit> LimitOf(const Expr& conjunct, const Var& var) {
  if (!lower::IsSafeIn({}, conjunct)) return std::nullopt;
  std::optional<Condition> condition = lower::AsCondition(conjunct);
  if (!condition || condition->test != lower::Test::kNonNegative) {
    return std::nullopt;
  }
  Linear rest = std::move(condition->form);
  const int64_t factor = rest.Coefficient(var.get());
  const auto is_var = [&](const VarNode* other) { return other == var.get(); };
  if ((factor != 1 && factor != -1) || rest.HidesVar(is_var)) {
    return std::nullopt;
  }
  rest.terms.erase(
      std::find_if(rest.terms.begin(), rest.terms.end(),
                   [&](const auto& term) { return term.atom == var; }));
  if (factor == 1) {
    for (Term& term : rest.terms) term.coefficient *= -1;
    rest.constant *= -1;
  }
  return Limit{factor == 1, IndexNormalizer().Build(std::move(rest))};
}

// The iterations of a loop that conjuncts leave, and those that say no more
// about its variable.
struct Bounds {
  Expr first, end;  // end - first may be negative
  Expr rest;        // null: none
  bool narrower = false;

  void Add(const Expr& conjunct, const Var& var) {
    const std::optional<Limit> limit = LimitOf(conjunct, var);
    if (!limit) {
      rest = Conjunction(rest, conjunct);
      return;
    }
    narrower = true;
    if (limit->is_lower) {
      first = Max(first, limit->value);
    } else {
      end = Min(end, kiln::Add(limit->value, Int(1)));
    }
  }
};

// Null when nothing limits the loop.
Stmt Trimmed(const ForNode& loop) {
  const auto* branch = loop.body.As<IfNode>();
  if (loop.for_kind != ForKind::kSerial || !branch || branch->else_case ||
      !RunsOverTerms(loop)) {
    return nullptr;
  }
  Bounds bounds{loop.min, Add(loop.min, loop.extent), nullptr};
  for (const Expr& conjunct : ConjunctsOf(branch->condition)) {
    bounds.Add(conjunct, loop.var);
  }
  if (!bounds.narrower) return nullptr;
  IndexNormalizer normalizer;
  ForFields fields = loop.fields();
  fields.min = normalizer.Run(bounds.first);
  fields.extent = normalizer.Run(Max(Sub(bounds.end, bounds.first), Int(0)));
  fields.body =
      bounds.rest ? MakeIf(bounds.rest, branch->then_case) : branch->then_case;
  return MakeFor(std::move(fields));
}

Stmt Trim(const Stmt& s) {
  const Stmt below =
      MapChildren(s, [](const Stmt& child) { return Trim(child); });
  const auto* loop = below.As<ForNode>();
  const Stmt trimmed = loop ? Trimmed(*loop) : nullptr;
  return trimmed ? trimmed : below;
}

}  // namespace

absl::StatusOr<Function> TightenLoopBounds(Function f) {
  f.body = Trim(f.body);
  return f;
}

}  // namespace kiln
