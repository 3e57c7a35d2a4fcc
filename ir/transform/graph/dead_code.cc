#include "kiln/ir/transform/graph/dead_code.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

// One round: what only dead bindings used is found in the next.
graph::GraphFunction WithoutUnused(const graph::GraphFunction& f,
                                   const Module& module, bool& changed) {
  const UseCounts uses = CountUses(f);
  const graph::Expr e = graph::RewriteBindings(
      f, [&](const graph::Binding& binding, graph::Emitter& emit) {
        const bool is_dead =
            uses.count(binding.var.get()) == 0 &&
            binding.value.kind() != graph::GraphKind::kMatchCast &&
            (emit.is_dataflow() || IsPure(binding.value, module));
        changed = changed || is_dead;
        return is_dead;
      });
  return graph::GraphFunction(e.As<graph::FunctionNode>());
}

std::set<std::string> Reached(const Module& module) {
  std::set<std::string> reached;
  std::vector<std::string> open;
  for (const Function& f : module.functions) {
    if (!f.is_private) reached.insert(f.name);
  }
  for (const graph::GraphFunction& f : module.graph_functions) {
    if (!f->is_private) open.push_back(f->name);
  }
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (!reached.insert(name).second) continue;
    const graph::FunctionNode* f = module.FindGraph(name);
    std::set<std::string> names;
    if (f) AddNames(graph::Expr(f), names);
    open.insert(open.end(), names.begin(), names.end());
  }
  return reached;
}

}  // namespace

graph::GraphFunction WithoutUnusedBindings(const graph::GraphFunction& f,
                                           const Module& module) {
  graph::GraphFunction out = f;
  for (bool changed = true; changed;) {
    changed = false;
    out = WithoutUnused(out, module, changed);
  }
  return out;
}

Module WithoutUnusedBindings(Module module) {
  std::vector<graph::GraphFunction> functions = module.graph_functions;
  for (graph::GraphFunction& f : functions) {
    f = WithoutUnusedBindings(f, module);
  }
  module.graph_functions = std::move(functions);
  return module;
}

absl::StatusOr<Module> EliminateDeadCode(const Module& module) {
  Module out = WithoutUnusedBindings(module);
  const std::set<std::string> reached = Reached(out);
  std::erase_if(out.functions,
                [&](const Function& f) { return reached.count(f.name) == 0; });
  std::erase_if(out.graph_functions, [&](const graph::GraphFunction& f) {
    return reached.count(f->name) == 0;
  });
  return out;
}

}  // namespace kiln
