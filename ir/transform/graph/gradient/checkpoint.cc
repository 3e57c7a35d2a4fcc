#include "kiln/ir/transform/graph/gradient/checkpoint.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"

namespace kiln {

using graph::Binding;
using GraphVar = graph::Var;
using GraphExpr = graph::Expr;

Checkpoints::Checkpoints(std::vector<Binding> bindings, GraphExpr result) {
  graph::Substitution names;
  std::unordered_set<const graph::VarNode*> starts;
  std::vector<GraphExpr> ends;
  for (const Binding& binding : bindings) {
    GraphExpr value = graph::Substitute(binding.value, names);
    const auto* call = value.As<graph::CallNode>();
    const bool starts_here = call && call->IsOp("grad.start_checkpoint");
    const bool ends_here = call && call->IsOp("grad.end_checkpoint");
    if (starts_here || ends_here) {
      value = call->args[0];
      if (starts_here) starts.insert(value.As<graph::VarNode>());
      if (ends_here) ends.push_back(value);
      if (binding.var->is_dataflow) {
        names.vars[binding.var.get()] = value;
        continue;
      }
    }
    values_[binding.var.get()] = value;
    bindings_.push_back({binding.var, std::move(value)});
  }
  result_ = graph::Substitute(result, names);
  for (const GraphExpr& end : ends) AddInside(end, starts);
}

void Checkpoints::AddInside(
    const GraphExpr& end,
    const std::unordered_set<const graph::VarNode*>& starts) {
  graph::Visit(end, [&](const GraphExpr& e) {
    const auto* var = e.As<graph::VarNode>();
    const auto found = values_.find(var);
    if (found == values_.end() || starts.count(var) > 0) return true;
    if (inside_.insert(var).second) AddInside(found->second, starts);
    return true;
  });
}

GraphExpr Checkpoints::Again(const GraphExpr& e, std::vector<Binding>& out) {
  const auto* var = e.As<graph::VarNode>();
  if (!var) {
    return graph::MapOperands(
        e, [&](const GraphExpr& operand) { return Again(operand, out); });
  }
  if (inside_.count(var) == 0) return e;
  const auto found = again_.find(var);
  if (found != again_.end()) return found->second;
  GraphExpr value = Again(values_.at(var), out);
  const GraphVar again(absl::StrCat(var->name, "_cp"), var->info, true);
  out.push_back({again, std::move(value)});
  again_[var] = again;
  return again;
}

}  // namespace kiln
