#include "kiln/codegen/lower/guards/asked_conditions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/codegen/lower/guards/condition.h"
#include "kiln/codegen/lower/guards/known_conditions.h"
#include "kiln/codegen/lower/guards/loop_values.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::AsCondition;
using lower::AtomValues;
using lower::Condition;
using lower::Coverage;
using lower::FewerValues;
using lower::LoopStack;
using lower::Test;
using lower::ValuesIn;
using lower::ValuesWhere;

bool IsChoice(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return e.kind() == ExprKind::kSelect ||
         (call && call->op == Intrinsic::kIfThenElse);
}

// Whether it stores anything, and does not only ask for lines ahead.
bool Stores(const Stmt& s) {
  bool stores = false;
  Visit(s, [&](const Stmt& inner) {
    stores = stores || inner.kind() == StmtKind::kStore;
    return !stores;
  });
  return stores;
}

class Counter {
 public:
  explicit Counter(int threads) : threads_(threads) {}

  // `times`: how often a call runs the statement.
  void Count(const Stmt& s, double times);
  double asked() const { return asked_; }

 private:
  void CountIf(const IfNode& branch, double times);
  void CountChoices(const Stmt& s, double times);
  double Iterations(const ForNode& loop) const;

  const int threads_;
  LoopStack loops_;
  FewerValues fewer_;  // in the branch at hand
  double asked_ = 0;
};

double Counter::Iterations(const ForNode& loop) const {
  double count = 1;
  if (const int64_t* extent = AsInt(loop.extent)) {
    count = static_cast<double>(*extent);
  } else if (const auto values = ValuesIn(loop.extent, loops_, fewer_)) {
    count = std::max(0.0, 0.5 * (values->first + values->last));
  }
  return loop.for_kind == ForKind::kParallel ? std::ceil(count / threads_)
                                             : count;
}

void Counter::CountIf(const IfNode& branch, double times) {
  if (!Stores(Stmt(&branch))) return;
  const std::vector<Expr> conjuncts = ConjunctsOf(branch.condition);
  asked_ += times * static_cast<double>(conjuncts.size());
  const FewerValues before = fewer_;
  double share = 1;
  for (const Expr& conjunct : conjuncts) {
    const std::optional<Condition> condition = AsCondition(conjunct);
    if (!condition || condition->test != Test::kNonNegative) continue;
    share *= Coverage(condition->form, loops_, fewer_);
    for (const AtomValues& found :
         ValuesWhere(condition->form, loops_, fewer_)) {
      if (const auto* var = found.atom.As<VarNode>()) {
        fewer_[var] = found.values;
      }
    }
  }
  Count(branch.then_case, times * share);
  fewer_ = before;
  if (branch.else_case) Count(branch.else_case, times * (1 - share));
}

void Counter::CountChoices(const Stmt& s, double times) {
  VisitExprs(s, [&](const Expr& e) {
    if (IsChoice(e)) asked_ += times;
    return true;
  });
}

void Counter::Count(const Stmt& s, double times) {
  if (const auto* loop = s.As<ForNode>()) {
    const double inside = times * Iterations(*loop);
    loops_.push_back(loop);
    Count(loop->body, inside);
    loops_.pop_back();
  } else if (const auto* branch = s.As<IfNode>()) {
    CountIf(*branch, times);
  } else if (s.kind() == StmtKind::kStore || s.kind() == StmtKind::kEvaluate) {
    CountChoices(s, times);
  } else {
    ForEachChild(s, [&](const Stmt& child) { Count(child, times); });
  }
}

}  // namespace

double AskedConditions(const Function& lowered, int threads) {
  Counter counter(threads);
  counter.Count(lowered.body, 1);
  return counter.asked();
}

}  // namespace kiln
