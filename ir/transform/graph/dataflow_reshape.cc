#include "kiln/ir/transform/graph/dataflow_reshape.h"

#include <utility>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

Expr RowMajor(const std::vector<Expr>& indices,
              const std::vector<Expr>& shape) {
  Expr flat = Int(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    flat = Add(Mul(flat, Cast(DType::Index(), shape[i])),
               Cast(DType::Index(), indices[i]));
  }
  return flat;
}

Expr Product(const std::vector<Expr>& shape) {
  Expr product = Int(1);
  for (const Expr& e : shape) product = Mul(product, Cast(DType::Index(), e));
  return product;
}

// The only block of the function; nullptr for several.
const BlockRealizeNode* OnlyBlock(const Function& f) {
  const BlockRealizeNode* only = nullptr;
  int count = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize || realize->block->iters.empty()) return true;
    only = realize;
    ++count;
    return false;
  });
  return count == 1 && IsOne(only->predicate) ? only : nullptr;
}

}  // namespace

bool IsReshape(const Function& f) {
  const bool has_two = f.params.size() == 2 && f.params[0].buffer &&
                       f.params[1].buffer && f.body.As<BlockRealizeNode>();
  const BlockRealizeNode* realize = has_two ? OnlyBlock(f) : nullptr;
  const auto* store = realize ? realize->block->body.As<StoreNode>() : nullptr;
  const auto* load = store ? store->value.As<LoadNode>() : nullptr;
  if (!load || realize->block->init) return false;
  const Buffer& in = f.params[0].buffer;
  const Buffer& out = f.params[1].buffer;
  if (load->buffer != in || store->buffer != out || in->dtype != out->dtype) {
    return false;
  }
  Analyzer analyzer;
  for (const IterVar& iter : realize->block->iters) {
    analyzer.Bind(iter.var, iter.domain);
  }
  return analyzer.CanProveEqual(RowMajor(load->indices, in->shape),
                                RowMajor(store->indices, out->shape)) &&
         analyzer.CanProveEqual(Product(in->shape), Product(out->shape));
}

graph::Expr ReshapedBy(const graph::CallNode& call, const Module& module) {
  if (!call.IsOp("call_tir") || call.args.size() != 2) return graph::Expr();
  const auto* name = call.args[0].As<graph::GlobalVarNode>();
  const auto* args = call.args[1].As<graph::TupleNode>();
  const Function* callee = name ? module.Find(name->name) : nullptr;
  const bool is_reshape =
      callee && args && args->fields.size() == 1 && IsReshape(*callee);
  return is_reshape ? args->fields[0] : graph::Expr();
}

absl::StatusOr<Module> RewriteDataflowReshape(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          const auto* call = binding.value.As<graph::CallNode>();
          const auto* info = binding.var->info.As<graph::TensorInfo>();
          if (!call || !binding.var->is_dataflow || !info || !info->extents()) {
            return false;
          }
          const graph::Expr source = ReshapedBy(*call, module);
          if (!source) return false;
          emit.Emit(binding.var,
                    graph::CallOp("reshape",
                                  {source, graph::ShapeOf(*info->extents())}));
          return true;
        });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
