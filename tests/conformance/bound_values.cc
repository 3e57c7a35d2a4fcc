#include "kiln/tests/conformance/bound_values.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

// What tells constants apart: where they stand, or their bytes.
std::string KeyOf(const graph::ConstantNode& constant) {
  if (!constant.is_known()) return absl::StrCat("#", constant.index);
  return absl::StrCat(constant.dtype.ToString(), "[",
                      absl::StrJoin(constant.shape, ","), "]",
                      std::string(constant.data->bytes()));
}

// The constants of `f` that are not among `others`, each once; adds them there.
std::vector<graph::Expr> ConstantsOf(const graph::FunctionNode& f,
                                     std::set<std::string>& others) {
  std::vector<graph::Expr> found;
  graph::Visit(f.body, [&](const graph::Expr& e) {
    const auto* constant = e.As<graph::ConstantNode>();
    const bool is_new = constant && others.insert(KeyOf(*constant)).second;
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

bool TakesTheSame(const graph::FunctionNode& f, const graph::FunctionNode& g) {
  return PrintStructInfo(graph::SignatureOf(f)) ==
         PrintStructInfo(graph::SignatureOf(g));
}

// The place of the first function whose signature is another one afterwards,
// or of the first that is there.
size_t FirstBound(const Module& before, const Module& after) {
  size_t first = before.graph_functions.size();
  for (size_t i = before.graph_functions.size(); i-- > 0;) {
    const graph::FunctionNode& f = *before.graph_functions[i];
    const graph::FunctionNode* g = after.FindGraph(f.name);
    if (!g) continue;
    const bool is_better =
        first == before.graph_functions.size() || !TakesTheSame(f, *g);
    if (is_better) first = i;
  }
  return first;
}

}  // namespace

absl::StatusOr<Module> BindAsIn(const Module& before, const Module& after,
                                bool binds_params) {
  if (before.graph_functions.empty() || after.graph_functions.empty()) {
    return absl::InvalidArgumentError("there is no graph function");
  }
  const size_t at = FirstBound(before, after);
  if (at == before.graph_functions.size()) {
    return absl::InvalidArgumentError("no function is there afterwards");
  }
  const graph::FunctionNode& f = *before.graph_functions[at];
  const graph::FunctionNode& g = *after.FindGraph(f.name);
  std::map<std::string, graph::Expr> values;
  std::set<std::string> own;
  ConstantsOf(f, own);
  const std::vector<graph::Expr> constants = ConstantsOf(g, own);
  const UseCounts uses = CountUses(f.body);
  size_t next = 0;
  for (const graph::Var& param : f.params) {
    if (!binds_params || ParamOf(g, param->name) || constants.empty()) continue;
    // What is not used was bound to anything.
    const bool is_used = uses.count(param.get()) > 0;
    const size_t chosen = is_used && next < constants.size() ? next++ : 0;
    values.emplace(param->name, constants[chosen]);
  }
  KILN_ASSIGN_OR_RETURN(Module bound, BindParams(before, f.name, values));
  // Constants tell the dimensions of their shapes.
  for (const graph::GraphFunction& other : before.graph_functions) {
    const graph::FunctionNode* bound_as = after.FindGraph(other->name);
    if (!bound_as) continue;
    KILN_ASSIGN_OR_RETURN(
        bound,
        BindSymbolicVars(bound, other->name,
                         DimsOf(*bound.FindGraph(other->name), *bound_as)));
  }
  return bound;
}

}  // namespace kiln
