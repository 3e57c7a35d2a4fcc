#include "kiln/ir/graph/visit.h"

#include <set>

namespace kiln::graph {
namespace {

void VisitSeq(const SeqNode& seq, FunctionRef<bool(const Expr&)> visit) {
  for (const BindingBlock& block : seq.blocks) {
    for (const Binding& binding : block.bindings) Visit(binding.value, visit);
  }
  Visit(seq.result, visit);
}

void VisitBelow(const Expr& e, FunctionRef<bool(const Expr&)> visit) {
  if (const auto* call = e.As<CallNode>()) {
    Visit(call->callee, visit);
    for (const Expr& arg : call->args) Visit(arg, visit);
  } else if (const auto* tuple = e.As<TupleNode>()) {
    for (const Expr& field : tuple->fields) Visit(field, visit);
  } else if (const auto* item = e.As<TupleItemNode>()) {
    Visit(item->tuple, visit);
  } else if (const auto* cast = e.As<MatchCastNode>()) {
    Visit(cast->value, visit);
  } else if (const auto* branch = e.As<IfNode>()) {
    Visit(branch->condition, visit);
    Visit(branch->then_body, visit);
    Visit(branch->else_body, visit);
  } else if (const auto* seq = e.As<SeqNode>()) {
    VisitSeq(*seq, visit);
  } else if (const auto* function = e.As<FunctionNode>()) {
    if (function->body) Visit(function->body, visit);
  }
}

// The struct info that stands at `e` itself.
void VisitOwnInfos(const Expr& e, FunctionRef<void(const StructInfo&)> visit) {
  if (const auto* cast = e.As<MatchCastNode>()) {
    visit(cast->info);
  } else if (const auto* call = e.As<CallNode>()) {
    for (const StructInfo& info : call->infos) visit(info);
  } else if (const auto* seq = e.As<SeqNode>()) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block.bindings) visit(binding.var->info);
    }
  } else if (const auto* function = e.As<FunctionNode>()) {
    for (const Var& param : function->params) visit(param->info);
    visit(function->result);
  }
}

// `info` and the struct info in it.
void VisitInfo(const StructInfo& info,
               FunctionRef<void(const StructInfo&)> visit) {
  if (!info) return;
  visit(info);
  if (const auto* tuple = info.As<TupleInfo>()) {
    for (const StructInfo& field : tuple->fields) VisitInfo(field, visit);
  } else if (const auto* function = info.As<FunctionInfo>()) {
    if (function->params) {
      for (const StructInfo& param : *function->params) VisitInfo(param, visit);
    }
    VisitInfo(function->result, visit);
  }
}

}  // namespace

void Visit(const Expr& e, FunctionRef<bool(const Expr&)> visit) {
  if (visit(e)) VisitBelow(e, visit);
}

void VisitScalars(const Expr& e, FunctionRef<void(const Scalar&)> visit) {
  Visit(e, [&](const Expr& below) {
    if (const auto* shape = below.As<ShapeNode>()) {
      for (const Scalar& value : shape->values) visit(value);
    } else if (const auto* number = below.As<PrimNode>()) {
      visit(number->value);
    }
    VisitOwnInfos(below,
                  [&](const StructInfo& info) { VisitScalars(info, visit); });
    return true;
  });
}

void VisitScalars(const StructInfo& info,
                  FunctionRef<void(const Scalar&)> visit) {
  VisitInfo(info, [&](const StructInfo& inner) {
    if (const auto* tensor = inner.As<TensorInfo>()) {
      if (tensor->shape) VisitScalars(tensor->shape, visit);
    } else if (const auto* shape = inner.As<ShapeInfo>()) {
      if (!shape->values) return;
      for (const Scalar& value : *shape->values) visit(value);
    } else if (const auto* number = inner.As<PrimInfo>()) {
      if (number->value) visit(number->value);
    }
  });
}

std::vector<Var> FreeShapeVars(const FunctionNode& f) {
  std::set<const VarNode*> seen;
  for (const Var& param : f.params) seen.insert(param.get());
  std::vector<Var> vars;
  const auto look = [&](const StructInfo& info) {
    const auto* tensor = info.As<TensorInfo>();
    const auto* var = tensor ? tensor->shape.As<VarNode>() : nullptr;
    if (var && seen.insert(var).second) vars.emplace_back(var);
  };
  const auto look_below = [&](const StructInfo& info) {
    VisitInfo(info, look);
  };
  for (const Var& param : f.params) look_below(param->info);
  look_below(f.result);
  Visit(f.body, [&](const Expr& e) {
    if (const auto* seq = e.As<SeqNode>()) {
      for (const BindingBlock& block : seq->blocks) {
        for (const Binding& binding : block.bindings) {
          look_below(binding.var->info);
          seen.insert(binding.var.get());
        }
      }
    } else {
      VisitOwnInfos(e, look_below);
    }
    return true;
  });
  return vars;
}

bool UsesGlobals(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& below) {
    found = found || below.kind() == GraphKind::kGlobalVar;
    return !found;
  });
  return found;
}

}  // namespace kiln::graph
