#include "kiln/codegen/graph/labels.h"

#include <vector>

#include "kiln/ir/graph/visit.h"

namespace kiln {
namespace {

using Names = std::unordered_map<const graph::VarNode*, std::string>;

std::vector<graph::Binding> BindingsOf(const graph::FunctionNode& f) {
  std::vector<graph::Binding> bindings;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    const auto* seq = e.As<graph::SeqNode>();
    if (!seq) return true;
    for (const graph::BindingBlock& block : seq->blocks) {
      bindings.insert(bindings.end(), block.bindings.begin(),
                      block.bindings.end());
    }
    return true;
  });
  return bindings;
}

// The names that variables get later, alone or as fields of a tuple.
Names AliasesIn(const std::vector<graph::Binding>& bindings) {
  Names aliases;
  for (const graph::Binding& binding : bindings) {
    std::vector<graph::Expr> parts = {binding.value};
    if (const auto* tuple = binding.value.As<graph::TupleNode>()) {
      parts = tuple->fields;
    }
    for (const graph::Expr& part : parts) {
      const auto* var = part.As<graph::VarNode>();
      if (var) aliases.emplace(var, binding.var->name);
    }
  }
  return aliases;
}

}  // namespace

Names LabelsOf(const graph::FunctionNode& f) {
  const std::vector<graph::Binding> bindings = BindingsOf(f);
  const Names aliases = AliasesIn(bindings);
  Names labels;
  for (const graph::Binding& binding : bindings) {
    std::string& label = labels[binding.var.get()] = binding.var->name;
    const auto* call = binding.value.As<graph::CallNode>();
    if (binding.var->name != "_" || !call || call->args.empty()) continue;
    const auto alias = aliases.find(call->args.back().As<graph::VarNode>());
    if (alias != aliases.end()) label = alias->second;
  }
  return labels;
}

}  // namespace kiln
