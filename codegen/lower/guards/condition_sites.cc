#include "kiln/codegen/lower/guards/condition_sites.h"

#include <utility>

#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

// Collects the conjuncts of conditions, and the loops between.
class SiteCollector {
 public:
  explicit SiteCollector(const LoopStack& outer) : loops_(outer) {}
  void Collect(const Stmt& s);
  ConditionSites found;

 private:
  void CollectExpr(const Expr& e);
  void AddConjuncts(const Expr& condition);
  LoopStack loops_;
};

void SiteCollector::AddConjuncts(const Expr& condition) {
  for (const Expr& conjunct : ConjunctsOf(condition)) {
    found.sites.push_back({conjunct, loops_});
  }
}

void SiteCollector::CollectExpr(const Expr& e) {
  Visit(e, [&](const Expr& x) {
    if (const auto* let = x.As<LetNode>()) found.lets.insert(let->var.get());
    const auto* call = x.As<CallNode>();
    if (call && call->op == Intrinsic::kIfThenElse) {
      AddConjuncts(call->args[0]);
    }
    return true;
  });
}

void SiteCollector::Collect(const Stmt& s) {
  if (const auto* let = s.As<LetStmtNode>()) found.lets.insert(let->var.get());
  if (const auto* branch = s.As<IfNode>()) AddConjuncts(branch->condition);
  ForEachExpr(s, [&](const Expr& e) { CollectExpr(e); });
  const auto* loop = s.As<ForNode>();
  if (loop) loops_.push_back(loop);
  ForEachChild(s, [&](const Stmt& child) { Collect(child); });
  if (loop) loops_.pop_back();
}

}  // namespace

ConditionSites FindConditionSites(const Stmt& body, const LoopStack& outer) {
  SiteCollector collector(outer);
  collector.Collect(body);
  return std::move(collector.found);
}

}  // namespace kiln::lower
