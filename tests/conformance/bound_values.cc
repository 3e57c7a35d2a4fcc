#include "kiln/tests/conformance/bound_values.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

// Each constant once, by its index.
std::vector<graph::Expr> ConstantsOf(const graph::FunctionNode& f) {
  std::vector<graph::Expr> found;
  std::set<int64_t> seen;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    const auto* constant = e.As<graph::ConstantNode>();
    const bool is_new = constant && !constant->is_known() &&
                        seen.insert(constant->index).second;
    if (is_new) found.push_back(e);
    return true;
  });
  return found;
}

const graph::VarNode* ParamOf(const graph::FunctionNode& f,
                              const std::string& name) {
  for (const graph::Var& param : f.params) {
    if (param->name == name) return param.get();
  }
  return nullptr;
}

std::vector<graph::StructInfo> CallInfos(const graph::FunctionNode& f) {
  std::vector<graph::StructInfo> infos;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    if (const auto* call = e.As<graph::CallNode>()) {
      infos.insert(infos.end(), call->infos.begin(), call->infos.end());
    }
    return true;
  });
  return infos;
}

std::map<std::string, int64_t> DimsOf(const graph::FunctionNode& before,
                                      const graph::FunctionNode& after) {
  graph::Substitution known;
  for (const graph::Var& param : before.params) {
    const auto* other = ParamOf(after, param->name);
    if (other) graph::Match(param->info, other->info, known);
  }
  graph::Match(before.result, after.result, known);
  const auto left = CallInfos(before), right = CallInfos(after);
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    graph::Match(left[i], right[i], known);
  }
  std::map<std::string, int64_t> dims;
  const auto add = [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      const auto found = known.scalars.find(var.get());
      const int64_t* value =
          found == known.scalars.end() ? nullptr : AsInt(found->second);
      if (value) dims[var.name()] = *value;
    }
  };
  for (const graph::Var& param : before.params) {
    graph::VisitScalars(param->info, add);
  }
  return dims;
}

}  // namespace

absl::StatusOr<Module> BindAsIn(const Module& before, const Module& after,
                                bool binds_params) {
  if (before.graph_functions.empty() || after.graph_functions.empty()) {
    return absl::InvalidArgumentError("there is no graph function");
  }
  const graph::FunctionNode& f = *before.graph_functions[0];
  const graph::FunctionNode& g = *after.graph_functions[0];
  std::map<std::string, graph::Expr> values;
  const std::vector<graph::Expr> constants = ConstantsOf(g);
  const UseCounts uses = CountUses(f.body);
  size_t next = 0;
  for (const graph::Var& param : f.params) {
    if (!binds_params || ParamOf(g, param->name) || constants.empty()) continue;
    // What is not used was bound to anything.
    const bool is_used = uses.count(param.get()) > 0;
    const size_t at = is_used && next < constants.size() ? next++ : 0;
    values.emplace(param->name, constants[at]);
  }
  KILN_ASSIGN_OR_RETURN(const Module bound, BindParams(before, f.name, values));
  return BindSymbolicVars(bound, f.name, DimsOf(f, g));
}

}  // namespace kiln
