#include "kiln/codegen/lower/guards/narrow_loop_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/fold_known_conditions.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

class Cutter {
 public:
  Cutter(const LoopStack& outer, const FewerValues& fewer)
      : loops_(outer), fewer_(fewer) {}

  Stmt Run(const Stmt& s);

 private:
  Stmt Cut(const ForNode& loop) const;
  std::optional<Values> Holds(const Expr& conjunct, const ForNode& loop) const;

  LoopStack loops_;  // the one at hand included
  const FewerValues& fewer_;
};

// The values of the variable of the innermost loop for which the conjunct
// holds; nullopt where other loops have a say.
std::optional<Values> Cutter::Holds(const Expr& conjunct,
                                    const ForNode& loop) const {
  const std::optional<Condition> condition = AsCondition(conjunct);
  if (!condition || condition->test != Test::kNonNegative) return std::nullopt;
  Linear rest = condition->form;
  const int64_t factor = rest.Coefficient(loop.var.get());
  const auto is_var = [&](const VarNode* v) { return v == loop.var.get(); };
  if (factor == 0 || rest.HidesVar(is_var)) return std::nullopt;
  rest.terms.erase(
      std::find_if(rest.terms.begin(), rest.terms.end(),
                   [&](const auto& term) { return term.atom == loop.var; }));
  const auto low = Extreme(rest, loops_, 0, 1, fewer_);
  const auto high = Extreme(rest, loops_, 0, -1, fewer_);
  if (!low || !high || !low->is_constant() || !high->is_constant()) {
    return std::nullopt;
  }
  const Values all = *ValuesOf(loop);
  Values out{all.last + 1, all.first - 1};
  for (int64_t value = all.first; value <= all.last; ++value) {
    Linear least = *low, most = *high;
    least.AddConstant(value, factor);
    most.AddConstant(value, factor);
    const bool always = least.constant >= 0, ever = most.constant >= 0;
    if (!least.ok || !most.ok || always != ever) return std::nullopt;
    if (!always) continue;
    out.first = std::min(out.first, value);
    out.last = value;
  }
  return out;
}

// Null where no conjunct cuts it.
Stmt Cutter::Cut(const ForNode& loop) const {
  constexpr int64_t kMaxExtent = 64;
  const auto* branch = loop.body.As<IfNode>();
  const std::optional<Values> all = ValuesOf(loop);
  const bool keeps_length = loop.for_kind == ForKind::kParallel ||
                            loop.for_kind == ForKind::kThreadBinding;
  if (keeps_length || !branch || branch->else_case || !all ||
      all->last - all->first >= kMaxExtent) {
    return nullptr;
  }
  Values left = *all;
  Expr rest;
  bool is_cut = false;
  for (const Expr& conjunct : ConjunctsOf(branch->condition)) {
    if (const std::optional<Values> holds = Holds(conjunct, loop)) {
      left.first = std::max(left.first, holds->first);
      left.last = std::min(left.last, holds->last);
      is_cut = true;
    } else {
      rest = Conjunction(rest, conjunct);
    }
  }
  if (!is_cut) return nullptr;
  if (left.first > left.last) return MakeEvaluate(Int(0));
  ForFields fields = loop.fields();
  fields.min = Int(left.first);
  fields.extent = Int(left.last - left.first + 1);
  fields.body = rest ? MakeIf(rest, branch->then_case) : branch->then_case;
  return MakeFor(std::move(fields));
}

// Inner loops first, so that one around those that do nothing does nothing.
Stmt Cutter::Run(const Stmt& s) {
  const auto* loop = s.As<ForNode>();
  if (loop) loops_.push_back(loop);
  Stmt below = MapChildren(s, [&](const Stmt& child) { return Run(child); });
  if (loop) {
    if (Stmt cut = Cut(*below.As<ForNode>())) below = std::move(cut);
    loops_.pop_back();
  }
  return DoesNothing(below) ? MakeEvaluate(Int(0)) : below;
}

}  // namespace

Stmt NarrowLoopRanges(const Stmt& s, const LoopStack& outer,
                      const FewerValues& fewer) {
  return Cutter(outer, fewer).Run(s);
}

}  // namespace kiln::lower
