#include "kiln/ir/pattern/uses.h"

#include "kiln/ir/graph/visit.h"

namespace kiln {

namespace {

void AddShapeVars(const graph::StructInfo& info,
                  std::vector<const graph::VarNode*>& vars) {
  if (const auto* tensor = info.As<graph::TensorInfo>()) {
    if (const auto* var = tensor->shape.As<graph::VarNode>()) {
      vars.push_back(var);
    }
  } else if (const auto* tuple = info.As<graph::TupleInfo>()) {
    for (const graph::StructInfo& field : tuple->fields) {
      AddShapeVars(field, vars);
    }
  } else if (const auto* function = info.As<graph::FunctionInfo>()) {
    if (function->params) {
      for (const graph::StructInfo& param : *function->params) {
        AddShapeVars(param, vars);
      }
    }
    AddShapeVars(function->result, vars);
  }
}

}  // namespace

std::vector<const graph::VarNode*> ShapeVars(const graph::StructInfo& info) {
  std::vector<const graph::VarNode*> vars;
  AddShapeVars(info, vars);
  return vars;
}

namespace {

// The struct info that stands at `e` itself.
std::vector<graph::StructInfo> InfosAt(const graph::Expr& e) {
  if (const auto* cast = e.As<graph::MatchCastNode>()) return {cast->info};
  if (const auto* call = e.As<graph::CallNode>()) return call->infos;
  std::vector<graph::StructInfo> infos;
  if (const auto* function = e.As<graph::FunctionNode>()) {
    for (const graph::Var& param : function->params) {
      infos.push_back(param->info);
    }
    infos.push_back(function->result);
  }
  const auto* seq = e.As<graph::SeqNode>();
  if (!seq) return infos;
  for (const graph::BindingBlock& block : seq->blocks) {
    for (const graph::Binding& binding : block.bindings) {
      infos.push_back(binding.var->info);
    }
  }
  return infos;
}

}  // namespace

std::vector<const graph::VarNode*> UsedVars(const graph::Expr& e) {
  std::vector<const graph::VarNode*> vars;
  graph::Visit(e, [&](const graph::Expr& below) {
    if (const auto* var = below.As<graph::VarNode>()) vars.push_back(var);
    for (const graph::StructInfo& info : InfosAt(below)) {
      for (const graph::VarNode* var : ShapeVars(info)) vars.push_back(var);
    }
    return true;
  });
  return vars;
}

Uses::Uses(const graph::Expr& e) { Add(e, nullptr); }

void Uses::Add(const graph::Expr& e, const graph::VarNode* user) {
  graph::Visit(e, [&](const graph::Expr& below) {
    if (const auto* var = below.As<graph::VarNode>()) users_[var].insert(user);
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) {
      for (const graph::StructInfo& info : InfosAt(below)) AddInfo(info);
      return true;
    }
    Add(seq->result, nullptr);
    // From the last, so that users of another name are known.
    for (auto block = seq->blocks.rbegin(); block != seq->blocks.rend();
         ++block) {
      for (auto binding = block->bindings.rbegin();
           binding != block->bindings.rend(); ++binding) {
        AddInfo(binding->var->info);
        const auto* var = binding->value.As<graph::VarNode>();
        if (var) {
          AddName(var, binding->var.get());
        } else {
          Add(binding->value, binding->var.get());
        }
      }
    }
    return false;
  });
}

void Uses::AddInfo(const graph::StructInfo& info) {
  for (const graph::VarNode* var : ShapeVars(info)) users_[var].insert(nullptr);
}

void Uses::AddName(const graph::VarNode* var, const graph::VarNode* name) {
  const Users users = Of(name);
  users_[var].insert(users.begin(), users.end());
}

const Uses::Users& Uses::Of(const graph::VarNode* var) const {
  static const Users& none = *new Users();
  const auto found = users_.find(var);
  return found == users_.end() ? none : found->second;
}

}  // namespace kiln
