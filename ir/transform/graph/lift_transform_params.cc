// Three steps:
//
// 1. Of each function: which bindings could be lifted (liftable.h). Where one
//    function is made for several, those that all of them have.
// 2. Which of these, and which weights, what is left uses: the outputs.
// 3. The function that gives those (transform_function.h), and the functions
//    that take them:
//        def main(x, w):  ->  def main(x, t):
//
// Dimensions that only weights told are handed over as a shape.
#include "kiln/ir/transform/graph/lift_transform_params.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/liftable.h"
#include "kiln/ir/transform/graph/transform_function.h"

namespace kiln {
namespace {

using graph::Binding;
using GraphExpr = graph::Expr;
using GraphVar = graph::Var;

// Functions whose weights one function prepares.
struct Group {
  std::string name;  // of that
  std::vector<LiftCandidate> members;
};

// Leaves what all members do. Of one alone, values count one by one.
void KeepCommon(Group& group) {
  if (group.members.size() == 1) {
    LiftCandidate& only = group.members[0];
    for (size_t i = 0; i < only.liftable.size(); ++i) {
      only.keys.push_back(static_cast<int>(i));
    }
    return;
  }
  TextNumbers numbers;
  std::map<int, size_t> counts;
  for (LiftCandidate& c : group.members) {
    NumberValues(numbers, c);
    for (const int key : std::set<int>(c.keys.begin(), c.keys.end())) {
      ++counts[key];
    }
  }
  for (LiftCandidate& c : group.members) {
    std::vector<Binding> liftable;
    std::vector<int> keys;
    for (size_t i = 0; i < c.keys.size(); ++i) {
      if (counts[c.keys[i]] < group.members.size()) continue;
      liftable.push_back(c.liftable[i]);
      keys.push_back(c.keys[i]);
    }
    c.liftable = std::move(liftable);
    c.keys = std::move(keys);
  }
}

// What is left of a function, lifted bindings gone and marks that stop lifting
// passed by.
GraphExpr RestOf(const LiftCandidate& c) {
  std::unordered_set<const graph::VarNode*> lifted;
  for (const Binding& binding : c.liftable) lifted.insert(binding.var.get());
  return graph::RewriteBindings(
      c.f->body, [&](const Binding& binding, graph::Emitter& emit) {
        if (lifted.count(binding.var.get()) > 0) return true;
        if (!StopsLifting(binding.value)) return false;
        const GraphExpr value = binding.value.As<graph::CallNode>()->args[0];
        if (binding.var->is_dataflow) {
          emit.Replace(binding.var, value);
        } else {
          emit.Emit(binding.var, value);
        }
        return true;
      });
}

// What the function that is made gives: weights by their places, and lifted
// values by their keys.
struct Outputs {
  std::set<size_t> weights;
  std::vector<int> lifted;
  std::vector<Var> dims;
};

bool NamesDimensions(const graph::StructInfo& info) {
  return info.As<graph::PrimInfo>() || info.As<graph::ShapeInfo>();
}

// The variables of a member that are outputs. Of equal values, the first.
std::vector<GraphVar> OutputVars(const LiftCandidate& c,
                                 const Outputs& outputs) {
  std::map<int, GraphVar> lifted;
  for (size_t i = 0; i < c.keys.size(); ++i) {
    lifted.emplace(c.keys[i], c.liftable[i].var);
  }
  std::vector<GraphVar> vars;
  const std::vector<GraphVar> weights = c.Weights();
  for (const size_t i : outputs.weights) vars.push_back(weights[i]);
  for (const int key : outputs.lifted) vars.push_back(lifted.at(key));
  return vars;
}

// Dimensions that the rest of a member speaks of and neither its inputs nor the
// outputs tell.
std::vector<Var> Untold(const LiftCandidate& c, const GraphExpr& rest,
                        const Outputs& outputs) {
  ScalarSet told;
  for (int64_t i = 0; i < c.num_inputs; ++i) {
    AddDefined(c.f->params[i]->info, told);
  }
  for (const GraphVar& var : OutputVars(c, outputs)) {
    AddDefined(var->info, told);
  }
  graph::Visit(rest, [&](const GraphExpr& e) {
    const auto* cast = e.As<graph::MatchCastNode>();
    if (cast) AddDefined(cast->info, told);
    return true;
  });
  std::vector<Var> untold;
  const ScalarSet weights = [&] {
    ScalarSet defined;
    for (const GraphVar& var : c.Weights()) AddDefined(var->info, defined);
    return defined;
  }();
  graph::VisitScalars(rest, [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      const bool is_weights = weights.count(var.get()) > 0;
      if (is_weights && told.insert(var.get()).second) untold.push_back(var);
    }
  });
  return untold;
}

Outputs OutputsOf(const Group& group) {
  Outputs outputs;
  std::set<int> used;
  for (const LiftCandidate& c : group.members) {
    const UseCounts uses = CountUses(RestOf(c));
    const std::vector<GraphVar> weights = c.Weights();
    for (size_t i = 0; i < weights.size(); ++i) {
      const bool is_used =
          uses.count(weights[i].get()) > 0 || NamesDimensions(weights[i]->info);
      if (is_used) outputs.weights.insert(i);
    }
    for (size_t i = 0; i < c.keys.size(); ++i) {
      if (uses.count(c.liftable[i].var.get()) > 0) used.insert(c.keys[i]);
    }
  }
  for (const int key : group.members[0].keys) {
    if (used.erase(key) > 0) outputs.lifted.push_back(key);
  }
  for (const LiftCandidate& c : group.members) {
    for (const Var& var : Untold(c, RestOf(c), outputs)) {
      const auto found =
          std::find(outputs.dims.begin(), outputs.dims.end(), var);
      if (found == outputs.dims.end()) outputs.dims.push_back(var);
    }
  }
  return outputs;
}

// The member, taking the outputs.
graph::GraphFunction RestFunction(const LiftCandidate& c,
                                  const Outputs& outputs,
                                  const std::vector<GraphVar>& shapes) {
  graph::FunctionFields fields = c.f->fields();
  fields.params.resize(c.num_inputs);
  fields.params.insert(fields.params.end(), shapes.begin(), shapes.end());
  std::map<int, GraphVar> params;
  size_t next = 0;
  for (const GraphVar& output : OutputVars(c, outputs)) {
    const bool is_weight = next++ < outputs.weights.size();
    fields.params.push_back(
        is_weight ? output : GraphVar(output->name, output->info, false));
    if (is_weight) continue;
    params.emplace(outputs.lifted[params.size()], fields.params.back());
  }
  graph::Substitution known;
  for (size_t i = 0; i < c.keys.size(); ++i) {
    const auto found = params.find(c.keys[i]);
    if (found == params.end()) continue;
    known.vars[c.liftable[i].var.get()] = found->second;
  }
  fields.body = graph::Substitute(RestOf(c), known);
  return graph::GraphFunction(std::move(fields));
}

void LiftGroup(Group group, Module& module) {
  KeepCommon(group);
  const Outputs outputs = OutputsOf(group);
  std::vector<GraphVar> shapes;
  if (!outputs.dims.empty()) {
    shapes.emplace_back(
        "dims", graph::Shape({outputs.dims.begin(), outputs.dims.end()}));
  }
  const LiftCandidate& first = group.members[0];
  graph::GraphFunction made =
      TransformFunction(UniqueFunctionName(module, group.name), first, shapes,
                        OutputVars(first, outputs));
  for (const LiftCandidate& c : group.members) {
    module.graph_functions[c.index] = RestFunction(c, outputs, shapes);
  }
  module.graph_functions.push_back(std::move(made));
}

absl::StatusOr<std::vector<LiftCandidate>> Candidates(const Module& module) {
  std::vector<LiftCandidate> candidates;
  for (size_t i = 0; i < module.graph_functions.size(); ++i) {
    const graph::GraphFunction& f = module.graph_functions[i];
    const int64_t count = IntAttr(f->attrs, "num_input", -1);
    if (f->attrs.count("num_input") == 0 || !f->body) continue;
    if (count < 0 || count > static_cast<int64_t>(f->params.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(f->name, ": num_input is ", count, ", of ",
                       f->params.size(), " parameters"));
    }
    candidates.push_back({i, count, f, {}, {}});
  }
  return candidates;
}

// Weights of `c` have the dimensions of those of `first`.
absl::Status Align(const LiftCandidate& first, LiftCandidate& c) {
  const std::vector<GraphVar> a = first.Weights(), b = c.Weights();
  graph::Substitution dims;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    graph::Match(b[i]->info, a[i]->info, dims);
  }
  const GraphExpr e = graph::Substitute(GraphExpr(c.f), dims);
  c.f = graph::GraphFunction(e.As<graph::FunctionNode>());
  Analyzer analyzer;
  const std::vector<GraphVar> own = c.Weights();
  bool is_same = a.size() == own.size();
  for (size_t i = 0; is_same && i < a.size(); ++i) {
    is_same = graph::SameInfo(a[i]->info, own[i]->info, analyzer);
  }
  if (is_same) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(first.f->name, " and ", c.f->name,
                   " take other weights, so that one function cannot prepare "
                   "them for both"));
}

}  // namespace

absl::StatusOr<Module> LiftTransformParams(const Module& module,
                                           LiftInto into) {
  KILN_ASSIGN_OR_RETURN(std::vector<LiftCandidate> candidates,
                        Candidates(module));
  std::vector<Group> groups;
  for (LiftCandidate& c : candidates) {
    const bool is_shared = into == LiftInto::kOneForAll;
    if (groups.empty() || !is_shared) {
      groups.push_back({is_shared
                            ? "transform_params"
                            : absl::StrCat(c.f->name, "_transform_params"),
                        {}});
    } else {
      KILN_RETURN_IF_ERROR(Align(groups[0].members[0], c));
    }
    FindLiftable(module, c);
    groups.back().members.push_back(std::move(c));
  }
  Module out = module;
  for (Group& group : groups) LiftGroup(std::move(group), out);
  return InferModule(out);
}

}  // namespace kiln
