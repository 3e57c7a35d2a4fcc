#include "kiln/frontends/builder/module_edit.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/builder/calls.h"
#include "kiln/frontends/builder/scopes.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/verify/verify.h"

namespace kiln::graph {
namespace {

bool IsName(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_';
  });
}

absl::Status CheckCalls(const FunctionNode& f, const Module& module) {
  absl::Status status;
  Visit(GraphFunction(&f), [&](const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call && status.ok()) status = CompleteCall(*call, module).status();
    return status.ok();
  });
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(f.name, ": ", status.message()));
}

}  // namespace

absl::Status CheckName(const std::string& name) {
  if (IsName(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name,
                   "\" is no name of a function; take letters, digits and _, "
                   "and begin with a letter or _"));
}

bool HasFunction(const Module& module, const std::string& name) {
  return module.Find(name) || module.FindGraph(name);
}

void RemoveFunction(Module& module, const std::string& name) {
  auto& functions = module.functions;
  functions.erase(
      std::remove_if(functions.begin(), functions.end(),
                     [&](const kiln::Function& f) { return f.name == name; }),
      functions.end());
  auto& graphs = module.graph_functions;
  graphs.erase(
      std::remove_if(graphs.begin(), graphs.end(),
                     [&](const GraphFunction& f) { return f->name == name; }),
      graphs.end());
}

void PutFunction(Module& module, GraphFunction f) {
  for (GraphFunction& known : module.graph_functions) {
    if (known->name != f->name) continue;
    known = std::move(f);
    return;
  }
  RemoveFunction(module, f->name);
  module.graph_functions.push_back(std::move(f));
}

void PutFunction(Module& module, kiln::Function f) {
  if (kiln::Function* known = module.Find(f.name)) {
    *known = std::move(f);
    return;
  }
  RemoveFunction(module, f.name);
  module.functions.push_back(std::move(f));
}

GraphFunction Renamed(const GraphFunction& f, std::string name) {
  FunctionFields fields = f->fields();
  fields.name = std::move(name);
  return GraphFunction(std::move(fields));
}

GraphFunction InferredIfCan(const GraphFunction& f, const Module& module) {
  const absl::StatusOr<GraphFunction> inferred = InferFunction(*f, module);
  return inferred.ok() ? *inferred : f;
}

absl::Status CheckWholeModule(const Module& module) {
  for (const GraphFunction& f : module.graph_functions) {
    KILN_RETURN_IF_ERROR(CheckFunctionScopes(*f));
    KILN_RETURN_IF_ERROR(CheckCalls(*f, module));
  }
  for (const kiln::Function& f : module.functions) {
    KILN_RETURN_IF_ERROR(VerifyFunction(f, {.level = LevelOf(f)}));
  }
  return absl::OkStatus();
}

}  // namespace kiln::graph
