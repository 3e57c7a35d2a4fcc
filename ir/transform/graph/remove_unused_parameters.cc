#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/signatures.h"

namespace kiln {
namespace {

using ScalarSet = std::set<const VarNode*>;

ScalarSet ToldBy(const std::vector<graph::Var>& params) {
  ScalarSet told;
  for (const graph::Var& param : params) {
    for (const Var& var : graph::DefinedScalars(param->info)) {
      told.insert(var.get());
    }
  }
  return told;
}

// Dimensions of `f` that its parameters told and `kept` do not tell any more,
// the last ones first.
std::vector<Var> Untold(const graph::FunctionNode& f,
                        const std::vector<graph::Var>& kept) {
  const ScalarSet before = ToldBy(f.params);
  ScalarSet after = ToldBy(kept);
  std::vector<Var> untold;
  graph::VisitScalars(f.body, [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      if (before.count(var.get()) == 0) continue;
      if (after.insert(var.get()).second) untold.insert(untold.begin(), var);
    }
  });
  return untold;
}

struct Change {
  std::vector<bool> keeps;
  std::vector<Var> dims;  // handed over besides, as shapes
};

// What stands for the dimensions in a call, found by what it passes.
std::vector<graph::Expr> Dims(const Change& change,
                              const std::vector<graph::Var>& params,
                              const graph::CallNode& call) {
  graph::Substitution known;
  for (size_t i = 0; i < params.size(); ++i) {
    graph::Match(params[i]->info, graph::InfoOf(call.args[i]), known);
  }
  std::vector<graph::Expr> shapes;
  for (const Var& dim : change.dims) {
    const auto found = known.scalars.find(dim.get());
    if (found == known.scalars.end()) return {};
    shapes.push_back(graph::ShapeOf({found->second}));
  }
  return shapes;
}

// Whether every call tells the dimensions.
bool TellsAll(const Module& module, const std::string& name,
              const Change& change, const std::vector<graph::Var>& params) {
  bool tells = true;
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      const auto* callee =
          call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
      if (!callee || callee->name != name) return true;
      tells = tells && call->args.size() == params.size() &&
              Dims(change, params, *call).size() == change.dims.size();
      return true;
    });
  }
  return tells;
}

}  // namespace

absl::StatusOr<Module> RemoveUnusedParameters(const Module& module) {
  const std::set<std::string> names = OnlyCalled(module);
  Module out = module;
  std::map<std::string, ArgumentRule> rules;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (names.count(f->name) == 0) continue;
    const UseCounts uses = CountUses(f->body);
    Change change;
    graph::FunctionFields fields = f->fields();
    const std::vector<graph::Var> params = std::move(fields.params);
    fields.params.clear();
    for (const graph::Var& param : params) {
      change.keeps.push_back(uses.count(param.get()) > 0);
      if (change.keeps.back()) fields.params.push_back(param);
    }
    if (fields.params.size() == params.size()) continue;
    change.dims = Untold(*f, fields.params);
    if (!TellsAll(module, f->name, change, params)) continue;
    for (const Var& dim : change.dims) {
      fields.params.emplace_back(absl::StrCat("param_", dim.name()),
                                 graph::Shape({dim}));
    }
    rules[f->name] = [change, params](const graph::CallNode& call, auto&) {
      std::vector<graph::Expr> args;
      for (size_t i = 0; i < params.size(); ++i) {
        if (change.keeps[i]) args.push_back(call.args[i]);
      }
      const auto dims = Dims(change, params, call);
      args.insert(args.end(), dims.begin(), dims.end());
      return args;
    };
    f = graph::GraphFunction(std::move(fields));
  }
  RewriteArguments(rules, out);
  return out;
}

}  // namespace kiln
