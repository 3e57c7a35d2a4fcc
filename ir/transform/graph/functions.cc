#include "kiln/ir/transform/graph/functions.h"

#include <algorithm>
#include <utility>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

int64_t IntAttr(const AttrMap& attrs, const std::string& name,
                int64_t missing) {
  const auto found = attrs.find(name);
  const Expr* e = found == attrs.end() ? nullptr : found->second.expr();
  const int64_t* value = e ? AsInt(*e) : nullptr;
  return value ? *value : missing;
}

const graph::TensorInfo* TensorInfoOf(const graph::Expr& e) {
  const auto* var = e.As<graph::VarNode>();
  return var ? var->info.As<graph::TensorInfo>() : nullptr;
}

bool SameAttrs(const AttrMap& a, const AttrMap& b) {
  const auto text = [](const AttrMap& attrs) {
    return PrintGraphExpr(graph::CallOp("op", {}, attrs));
  };
  return text(a) == text(b);
}

bool IsPrimitive(const graph::FunctionNode& f) {
  return IntAttr(f.attrs, "Primitive", 0) != 0;
}

void AddNames(const graph::Expr& e, std::set<std::string>& names) {
  graph::Visit(e, [&](const graph::Expr& below) {
    const auto* global = below.As<graph::GlobalVarNode>();
    if (global) names.insert(global->name);
    return true;
  });
}

void AddShapeUses(const graph::StructInfo& info, UseCounts& uses) {
  graph::MapInfo(
      info, [](const graph::Scalar& value) { return value; },
      [&](const graph::Expr& shape) {
        const auto* var = shape.As<graph::VarNode>();
        if (var) ++uses[var];
        return shape;
      });
}

namespace {

void AddSeqShapes(const graph::SeqNode& seq, UseCounts& uses) {
  for (const graph::BindingBlock& block : seq.blocks) {
    for (const graph::Binding& binding : block.bindings) {
      AddShapeUses(binding.var->info, uses);
    }
  }
}

}  // namespace

graph::Expr CastTo(const graph::Expr& e, DType dtype) {
  return graph::CallOp("astype", {e}, {{"dtype", dtype.ToString()}});
}

UseCounts CountUses(const graph::Expr& e) {
  UseCounts uses;
  graph::Visit(e, [&](const graph::Expr& below) {
    if (const auto* var = below.As<graph::VarNode>()) ++uses[var];
    if (const auto* seq = below.As<graph::SeqNode>()) AddSeqShapes(*seq, uses);
    if (const auto* cast = below.As<graph::MatchCastNode>()) {
      AddShapeUses(cast->info, uses);
    }
    if (const auto* call = below.As<graph::CallNode>()) {
      for (const auto& info : call->infos) AddShapeUses(info, uses);
    }
    return true;
  });
  return uses;
}

namespace {

std::string FormOf(const graph::GraphFunction& f) {
  Module module;
  module.graph_functions.push_back(f);
  return CanonicalForm(module);
}

}  // namespace

std::string AddGraphFunction(const graph::GraphFunction& f, Module& module) {
  const std::string form = FormOf(f);
  for (const graph::GraphFunction& known : module.graph_functions) {
    const bool is_same_kind = known->params.size() == f->params.size() &&
                              known->is_private == f->is_private;
    if (is_same_kind && FormOf(known) == form) return known->name;
  }
  graph::FunctionFields fields = f->fields();
  fields.name = UniqueFunctionName(module, f->name);
  module.graph_functions.emplace_back(std::move(fields));
  return module.graph_functions.back()->name;
}

namespace {

// Whether the tensor function, which may be null, has no tensor to write into.
bool IsOfNumbers(const Function* f) {
  return f && std::none_of(f->params.begin(), f->params.end(),
                           [](const Param& param) { return param.buffer; });
}

bool IsPureCall(const graph::CallNode& call, const Module& module) {
  if (const auto* op = call.callee.As<graph::OpNode>()) {
    const OpRow* row = FindOp(op->name);
    return row && row->is_pure;
  }
  if (const auto* global = call.callee.As<graph::GlobalVarNode>()) {
    const graph::FunctionNode* f = module.FindGraph(global->name);
    return f ? f->is_pure : IsOfNumbers(module.Find(global->name));
  }
  const graph::StructInfo info = graph::InfoOf(call.callee);
  const auto* function = info.As<graph::FunctionInfo>();
  return function && function->is_pure;
}

}  // namespace

bool IsPure(const graph::Expr& value, const Module& module) {
  bool is_pure = true;
  graph::Visit(value, [&](const graph::Expr& e) {
    if (const auto* call = e.As<graph::CallNode>()) {
      is_pure = is_pure && IsPureCall(*call, module);
    }
    return e.kind() != graph::GraphKind::kFunction;
  });
  return is_pure;
}

}  // namespace kiln
