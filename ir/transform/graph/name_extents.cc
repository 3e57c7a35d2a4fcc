// From the front to the back: parameters first, then, as long as there are
// some, the bindings that the others are computed from. Of
//
//   s = R.tensor_to_shape(t); y = R.reshape(x, s); z = R.exp(y)
//
// only `s` is cast, and inference finds the extents of y and z.
#include "kiln/ir/transform/graph/name_extents.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Expr;
using graph::StructInfo;

// The number of extents that have no names; 0 where nothing can be named.
int NumUnnamed(const StructInfo& info) {
  if (const auto* shape = info.As<graph::ShapeInfo>()) {
    return shape->values ? 0 : std::max(shape->rank, 0);
  }
  const auto* tensor = info.As<graph::TensorInfo>();
  const bool has_names =
      !tensor || tensor->extents() || tensor->dtype.is_void();
  return has_names ? 0 : std::max(tensor->rank, 0);
}

// What stands for a value: a cast, and what its uses read.
struct Named {
  Binding cast;
  Expr value;
};

Named NameExtentsOf(const graph::Var& var, const Expr& value) {
  std::vector<graph::Scalar> names;
  for (int d = 0; d < NumUnnamed(var->info); ++d) {
    names.push_back(kiln::Var(absl::StrCat(var->name, "_", d)));
  }
  const auto* tensor = var->info.As<graph::TensorInfo>();
  const StructInfo info =
      tensor ? graph::Tensor(names, tensor->dtype, tensor->device)
             : graph::Shape(names);
  const graph::Var cast(var->name, info, var->is_dataflow);
  return {{cast, Expr(new graph::MatchCastNode(value, info))},
          tensor ? Expr(cast) : graph::ShapeOf(std::move(names))};
}

graph::GraphFunction WithNamedParams(const graph::FunctionNode& f) {
  graph::Substitution named;
  graph::BindingBlock casts;
  for (const graph::Var& param : f.params) {
    if (NumUnnamed(param->info) == 0) continue;
    Named name = NameExtentsOf(param, param);
    named.vars[param.get()] = std::move(name.value);
    casts.bindings.push_back(std::move(name.cast));
  }
  Expr body = graph::Substitute(f.body, named);
  std::vector<graph::BindingBlock> blocks = {std::move(casts)};
  if (const auto* seq = body.As<graph::SeqNode>()) {
    blocks.insert(blocks.end(), seq->blocks.begin(), seq->blocks.end());
    body = seq->result;
  }
  return graph::WithBody(f, graph::Seq(std::move(blocks), std::move(body)));
}

using VarSet = std::unordered_set<const graph::VarNode*>;

// The variables that nothing reads but casts.
VarSet OnlyCast(const Expr& body) {
  UseCounts uses = CountUses(body);
  graph::Visit(body, [&](const Expr& e) {
    const auto* cast = e.As<graph::MatchCastNode>();
    const auto* var = cast ? cast->value.As<graph::VarNode>() : nullptr;
    if (var) --uses[var];
    return true;
  });
  VarSet found;
  for (const auto& [var, count] : uses) {
    if (count == 0) found.insert(var);
  }
  return found;
}

bool IsComputedFromUnnamed(const Binding& binding) {
  for (const auto& [var, count] : CountUses(binding.value)) {
    if (NumUnnamed(var->info) > 0) return true;
  }
  return false;
}

VarSet VarsToName(const Expr& body) {
  const VarSet cast = OnlyCast(body);
  VarSet found;
  graph::Visit(body, [&](const Expr& e) {
    const auto* seq = e.As<graph::SeqNode>();
    if (!seq) return true;
    for (const graph::BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block.bindings) {
        const graph::VarNode* var = binding.var.get();
        const bool is_first = NumUnnamed(var->info) > 0 &&
                              cast.count(var) == 0 &&
                              !IsComputedFromUnnamed(binding);
        if (is_first) found.insert(var);
      }
    }
    return true;
  });
  return found;
}

// What the others are computed from may have extents now: their struct info is
// found anew.
Expr WithNamed(const Expr& body, const VarSet& vars) {
  return graph::RewriteBindings(
      body, [&](const Binding& binding, graph::Emitter& emit) {
        const graph::Var& var = binding.var;
        if (NumUnnamed(var->info) == 0) return false;
        if (vars.count(var.get()) == 0) {
          const graph::Var forgotten(var->name, {}, var->is_dataflow);
          emit.Emit(forgotten, binding.value);
          emit.Replace(var, forgotten);
          return true;
        }
        const graph::Var value = emit.Emit(binding.value);
        Named named = NameExtentsOf(var, value);
        emit.Emit(named.cast.var, named.cast.value);
        emit.Replace(var, std::move(named.value));
        return true;
      });
}

}  // namespace

absl::StatusOr<Module> NameExtents(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body || IsPrimitive(*f)) continue;
    f = WithNamedParams(*f);
    f = graph::WithBody(*f, WithNamed(f->body, {}));
  }
  while (true) {
    KILN_ASSIGN_OR_RETURN(out, InferModule(out));
    bool has_changed = false;
    for (graph::GraphFunction& f : out.graph_functions) {
      if (!f->body || IsPrimitive(*f)) continue;
      const VarSet vars = VarsToName(f->body);
      if (vars.empty()) continue;
      f = graph::WithBody(*f, WithNamed(f->body, vars));
      has_changed = true;
    }
    if (!has_changed) return out;
  }
}

}  // namespace kiln
