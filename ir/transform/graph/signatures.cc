#include "kiln/ir/transform/graph/signatures.h"

#include <utility>
#include <vector>

#include "kiln/ir/graph/visit.h"

namespace kiln {
namespace {

const graph::GlobalVarNode* CalleeOf(const graph::Expr& value) {
  const auto* call = value.As<graph::CallNode>();
  return call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
}

}  // namespace

std::set<std::string> OnlyCalled(const Module& module) {
  std::map<std::string, int> names, calls;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* global = e.As<graph::GlobalVarNode>();
      if (global) ++names[global->name];
      if (const auto* callee = CalleeOf(e)) ++calls[callee->name];
      return true;
    });
  }
  std::set<std::string> found;
  for (const graph::GraphFunction& f : module.graph_functions) {
    const bool is_free =
        f->is_private && f->body && names[f->name] == calls[f->name];
    if (is_free) found.insert(f->name);
  }
  return found;
}

void RewriteArguments(const std::map<std::string, ArgumentRule>& rules,
                      Module& module) {
  for (graph::GraphFunction& f : module.graph_functions) {
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* callee = CalleeOf(binding.value);
          const auto rule = callee ? rules.find(callee->name) : rules.end();
          if (rule == rules.end()) return false;
          const auto& call = *binding.value.As<graph::CallNode>();
          std::vector<graph::Expr> args = rule->second(call, emit);
          emit.Emit(binding.var,
                    graph::Expr(new graph::CallNode(
                        call.callee, std::move(args), call.attrs, call.infos)));
          return true;
        });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
}

}  // namespace kiln
