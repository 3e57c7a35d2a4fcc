// What a conjunct asks of one loop, with the least and the greatest of what it
// adds for the loops around and inside:
//
//   for j in 2, v in 8: if 8*j + v < 6: S     6 - 8*j - v is at most -2 at
//     →  for j in 1, v in 6: S                j = 1, so that only j = 0 stays;
//                                             then v < 6 decides
#include "kiln/codegen/lower/guards/narrow_loop_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/types/span.h"
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
  Stmt RunChildren(const Stmt& s);
  Stmt Cut(const ForNode& loop) const;
  Stmt WithoutIdleEnds(const ForNode& loop) const;
  std::optional<Values> Holds(const Expr& conjunct, const ForNode& loop) const;

  LoopStack loops_;  // the one at hand included
  const FewerValues& fewer_;
};

// A conjunct as factor * variable + rest >= 0; nullopt where it is none, or
// knows the variable otherwise.
struct Share {
  int64_t factor;
  Linear rest;
};
std::optional<Share> ShareOf(const Expr& conjunct, const Var& var) {
  const std::optional<Condition> condition = AsCondition(conjunct);
  if (!condition || condition->test != Test::kNonNegative) return std::nullopt;
  Linear rest = condition->form;
  const int64_t factor = rest.Coefficient(var.get());
  const auto is_var = [&](const VarNode* v) { return v == var.get(); };
  if (factor == 0 || rest.HidesVar(is_var)) return std::nullopt;
  rest.terms.erase(std::find_if(rest.terms.begin(), rest.terms.end(),
                                [&](const auto& t) { return t.atom == var; }));
  return Share{factor, std::move(rest)};
}

// The values of the variable of the innermost loop for which the conjunct
// holds; nullopt where other loops have a say.
std::optional<Values> Cutter::Holds(const Expr& conjunct,
                                    const ForNode& loop) const {
  const std::optional<Share> share = ShareOf(conjunct, loop.var);
  if (!share) return std::nullopt;
  const Linear& rest = share->rest;
  const int64_t factor = share->factor;
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

// The values of the variable of a loop that may be cut.
std::optional<Values> CuttableValues(const ForNode& loop) {
  constexpr int64_t kMaxExtent = 64;
  const std::optional<Values> all = ValuesOf(loop);
  const bool keeps_length = loop.for_kind == ForKind::kParallel ||
                            loop.for_kind == ForKind::kThreadBinding;
  if (keeps_length || !all || all->last - all->first >= kMaxExtent) {
    return std::nullopt;
  }
  return all;
}

// The loop for fewer values, around `body`.
Stmt WithValues(const ForNode& loop, const Values& values, Stmt body) {
  ForFields fields = loop.fields();
  fields.min = Int(values.first);
  fields.extent = Int(values.last - values.first + 1);
  fields.body = std::move(body);
  return MakeFor(std::move(fields));
}

bool UsesAny(const Linear& form, absl::Span<const ForNode* const> loops) {
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const Term& t) {
    return UsesVar(t.atom, [&](const VarNode* var) {
      return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
        return loop->var.get() == var;
      });
    });
  });
}

// Without the first and the last values for which a condition never holds, if
// it asks for inner loops as well: of j in 2, v in 8, if 8*j + v < 6, only j =
// 0 stays. Null where all stay.
Stmt Cutter::WithoutIdleEnds(const ForNode& loop) const {
  const std::optional<Values> all = CuttableValues(loop);
  if (!all) return nullptr;
  LoopStack loops = loops_;
  const Stmt* body = &loop.body;
  for (; body->As<ForNode>(); body = &body->As<ForNode>()->body) {
    loops.push_back(body->As<ForNode>());
  }
  const auto inner = absl::MakeConstSpan(loops).subspan(loops_.size());
  const auto* branch = body->As<IfNode>();
  if (!branch || branch->else_case) return nullptr;
  Values left = *all;
  bool asks_for_inner = false;
  for (const Expr& conjunct : ConjunctsOf(branch->condition)) {
    const std::optional<Share> share = ShareOf(conjunct, loop.var);
    if (!share) continue;
    asks_for_inner |= UsesAny(share->rest, inner);
    const auto most = Extreme(share->rest, loops, 0, -1, fewer_);
    if (!most || !most->is_constant()) continue;
    const auto is_idle = [&](int64_t value) {
      Linear at = *most;
      at.AddConstant(value, share->factor);
      return at.ok && at.constant < 0;
    };
    while (left.first <= left.last && is_idle(left.first)) ++left.first;
    while (left.first <= left.last && is_idle(left.last)) --left.last;
  }
  const bool stays = left.first == all->first && left.last == all->last;
  if (!asks_for_inner || stays) return nullptr;
  if (left.first > left.last) return MakeEvaluate(Int(0));
  return WithValues(loop, left, loop.body);
}

// Null where no conjunct cuts it.
Stmt Cutter::Cut(const ForNode& loop) const {
  const auto* branch = loop.body.As<IfNode>();
  const std::optional<Values> all = CuttableValues(loop);
  if (!branch || branch->else_case || !all) return nullptr;
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
  return WithValues(loop, left,
                    rest ? MakeIf(rest, branch->then_case) : branch->then_case);
}

// Outer loops first, as far as they can be cut then, so that inner ones need
// not count the values that went; then inner loops, so that one around those
// that do nothing does nothing.
Stmt Cutter::Run(const Stmt& s) {
  const auto* loop = s.As<ForNode>();
  if (!loop) return RunChildren(s);
  Stmt cut = Cut(*loop);
  if (!cut) cut = WithoutIdleEnds(*loop);
  if (!cut) cut = s;
  if (const auto* fewer = cut.As<ForNode>()) {
    loops_.push_back(fewer);
    const Stmt below = RunChildren(cut);
    loops_.pop_back();
    const auto* again = below.As<ForNode>();
    cut = again ? Cut(*again) : Stmt();
    if (!cut) cut = below;
  }
  return DoesNothing(cut) ? MakeEvaluate(Int(0)) : cut;
}

Stmt Cutter::RunChildren(const Stmt& s) {
  Stmt below = MapChildren(s, [&](const Stmt& child) { return Run(child); });
  return DoesNothing(below) ? MakeEvaluate(Int(0)) : below;
}

}  // namespace

Stmt NarrowLoopRanges(const Stmt& s, const LoopStack& outer,
                      const FewerValues& fewer) {
  return Cutter(outer, fewer).Run(s);
}

}  // namespace kiln::lower
