#include "kiln/ir/transform/graph/bind.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::GraphFunction;

absl::StatusOr<GraphFunction*> Find(Module& module, const std::string& name) {
  for (GraphFunction& f : module.graph_functions) {
    if (f->name == name) return &f;
  }
  return absl::NotFoundError(
      absl::StrCat("the module has no graph function called ", name));
}

// The values in the types of the variables, sums of constants folded.
GraphFunction Substituted(const GraphFunction& f,
                          const graph::Substitution& known) {
  const graph::Expr e = graph::Substitute(f, known);
  return GraphFunction(e.As<graph::FunctionNode>());
}

// `others` says what values of other parameters tell of dimensions.
absl::Status CheckFits(const graph::Var& param, const graph::Expr& value,
                       const graph::Substitution& others) {
  Analyzer analyzer;
  const graph::StructInfo info = graph::InfoOf(value);
  if (!info) return absl::OkStatus();
  const graph::StructInfo told = graph::Substitute(param->info, others);
  if (graph::Fits(info, told, analyzer) != graph::Fit::kNever) {
    return absl::OkStatus();
  }
  const std::string stated = PrintStructInfo(param->info);
  const std::string known = PrintStructInfo(told);
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter ", param->name, " is ", stated,
      known == stated ? "" : absl::StrCat(", with the other values ", known),
      ", and its value is ", PrintStructInfo(info)));
}

}  // namespace

absl::StatusOr<Module> BindParams(
    const Module& module, const std::string& function,
    const std::map<std::string, graph::Expr>& values) {
  Module out = module;
  KILN_ASSIGN_OR_RETURN(GraphFunction* const f, Find(out, function));
  graph::Substitution known;
  graph::FunctionFields fields = (*f)->fields();
  std::set<std::string> bound;
  for (const graph::Var& param : (*f)->params) {
    const auto found = values.find(param->name);
    if (found == values.end() || !bound.insert(param->name).second) continue;
    graph::Match(param->info, graph::InfoOf(found->second), known);
    known.vars[param.get()] = found->second;
    std::erase(fields.params, param);
  }
  for (const graph::Var& param : (*f)->params) {
    if (bound.count(param->name) == 0 || !known.vars.count(param.get())) {
      continue;
    }
    KILN_RETURN_IF_ERROR(CheckFits(param, values.at(param->name), known));
  }
  for (const auto& [name, value] : values) {
    if (bound.count(name) > 0) continue;
    return absl::NotFoundError(
        absl::StrCat(function, " has no parameter called ", name));
  }
  *f = Substituted(GraphFunction(std::move(fields)), known);
  return out;
}

absl::StatusOr<Module> BindSymbolicVars(
    const Module& module, const std::string& function,
    const std::map<std::string, int64_t>& values) {
  Module out = module;
  KILN_ASSIGN_OR_RETURN(GraphFunction* const f, Find(out, function));
  graph::Substitution known;
  std::set<std::string> bound;
  const auto add = [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      const auto found = values.find(var.name());
      if (found == values.end()) continue;
      known.scalars[var.get()] = Int(found->second, var.dtype());
      bound.insert(var.name());
    }
  };
  graph::VisitScalars(*f, add);
  for (const graph::Var& param : (*f)->params) {
    graph::VisitScalars(param->info, add);
  }
  for (const auto& [name, value] : values) {
    if (bound.count(name) > 0) continue;
    return absl::NotFoundError(
        absl::StrCat(function, " has no dimension called ", name));
  }
  *f = Substituted(*f, known);
  return out;
}

}  // namespace kiln
