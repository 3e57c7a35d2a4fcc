#include "kiln/ir/transform/graph/view_reshapes.h"

#include <unordered_set>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/transform/graph/dataflow_reshape.h"

namespace kiln {
namespace {

// The variables that may share their memory with a view.
class Shareable {
 public:
  explicit Shareable(const graph::GraphFunction& f) {
    for (const graph::Var& param : f->params) made_.insert(param.get());
    Look(f->body);
  }

  bool Has(const graph::VarNode* var) const {
    return made_.count(var) > 0 && seen_.count(var) == 0;
  }

 private:
  static const graph::CallNode* AsCallTir(const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    const bool is_tensor_function = call && call->IsOp("call_tir") &&
                                    call->args.size() >= 2 &&
                                    call->args[0].As<graph::GlobalVarNode>();
    return is_tensor_function ? call : nullptr;
  }

  // What a call of a tensor function reads is not seen by anyone else.
  void Look(const graph::Expr& e) {
    graph::Visit(e, [&](const graph::Expr& below) {
      if (const auto* seq = below.As<graph::SeqNode>()) {
        for (const graph::BindingBlock& block : seq->blocks) {
          for (const graph::Binding& binding : block.bindings) {
            if (AsCallTir(binding.value)) made_.insert(binding.var.get());
          }
        }
        return true;
      }
      if (const graph::CallNode* call = AsCallTir(below)) {
        const auto* args = call->args[1].As<graph::TupleNode>();
        if (!args) Look(call->args[1]);
        for (size_t i = 2; i < call->args.size(); ++i) Look(call->args[i]);
        return false;
      }
      if (const auto* var = below.As<graph::VarNode>()) seen_.insert(var);
      return true;
    });
  }

  std::unordered_set<const graph::VarNode*> made_, seen_;
};

}  // namespace

absl::StatusOr<Module> ViewReshapes(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const Shareable shareable(f);
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* call = binding.value.As<graph::CallNode>();
          const auto* info = binding.var->info.As<graph::TensorInfo>();
          if (!call || !binding.var->is_dataflow || !info || !info->extents()) {
            return false;
          }
          const graph::Expr source = ReshapedBy(*call, module);
          const auto* var = source ? source.As<graph::VarNode>() : nullptr;
          if (!var || !shareable.Has(var) ||
              !shareable.Has(binding.var.get())) {
            return false;
          }
          emit.Emit(binding.var,
                    graph::CallOp("memory.view",
                                  {source, graph::ShapeOf(*info->extents())}));
          return true;
        });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
