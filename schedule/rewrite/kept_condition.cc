#include "kiln/schedule/rewrite/kept_condition.h"

#include <utility>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/instances.h"

namespace kiln {

Expr ConditionOfIters(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  VarMap iters;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    const auto* loop = realize.values[i].As<VarNode>();
    if (loop) iters[loop] = realize.block->iters[i].var;
  }
  const Expr condition = Substitute(realize.predicate, iters);
  for (const ForNode* loop : block.loops) {
    if (UsesVar(condition, loop->var)) return nullptr;
  }
  return condition;
}

Reason WhyNotAllRunButFor(const ScopeBlock& block) {
  const BlockRealizeNode& realize = *block.realize;
  const Stmt always = MakeRealize(realize.values, Bool(true), realize.block);
  ScopeBlock whole = block;
  whole.realize = always.As<BlockRealizeNode>();
  return WhyNotAllRun(whole);
}

Function AddCondition(Function f, const Path& path, const Expr& condition) {
  const BlockRealizeNode& realize = *path.realize();
  VarMap values;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    values[realize.block->iters[i].var.get()] = realize.values[i];
  }
  const Expr both = Analyzer().Simplify(
      And(realize.predicate, Substitute(condition, values)));
  return ReplaceAt(std::move(f), path,
                   MakeRealize(realize.values, both, realize.block));
}

}  // namespace kiln
