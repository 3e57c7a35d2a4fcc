#include "kiln/ir/transform/graph/normalize.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Expr;

Expr Merged(const Expr& e) {
  const Expr below = graph::MapOperands(
      e, [](const Expr& operand) { return Merged(operand); });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  std::vector<graph::BindingBlock> blocks;
  for (const graph::BindingBlock& block : seq->blocks) {
    if (block.bindings.empty()) continue;
    if (blocks.empty() || blocks.back().is_dataflow != block.is_dataflow) {
      blocks.push_back(block);
      continue;
    }
    auto& last = blocks.back().bindings;
    last.insert(last.end(), block.bindings.begin(), block.bindings.end());
  }
  return graph::Seq(std::move(blocks), seq->result);
}

// Uses of a value that is nothing are nothing.
Expr WithoutVoid(const Expr& f) {
  return graph::RewriteBindings(
      f, [](const graph::Binding& binding, graph::Emitter& emit) {
        const auto* tuple = binding.var->info.As<graph::TupleInfo>();
        const bool is_void = tuple && tuple->fields.empty() &&
                             binding.value.As<graph::CallNode>();
        if (!is_void) return false;
        emit.Emit(binding.var, binding.value);
        emit.Replace(binding.var, graph::TupleOf({}));
        return true;
      });
}

// The function with the result that its body gives, where that says more.
absl::StatusOr<graph::GraphFunction> WithFoundResult(
    const graph::GraphFunction& f, const Module& module) {
  std::set<std::string> names;
  AddNames(f, names);
  if (!f->result || names.count(f->name) > 0) return f;
  graph::FunctionFields fields = f->fields();
  fields.result = {};
  KILN_ASSIGN_OR_RETURN(
      const graph::GraphFunction found,
      InferFunction(*graph::GraphFunction(std::move(fields)), module));
  Analyzer analyzer;
  const graph::Fit fit = graph::Fits(found->result, f->result, analyzer);
  return fit == graph::Fit::kAlways ? found : f;
}

}  // namespace

absl::StatusOr<Module> NormalizeGraph(const Module& module) {
  KILN_ASSIGN_OR_RETURN(Module out, InferModule(module));
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body) continue;
    const graph::Expr e = Merged(WithoutVoid(f));
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
    KILN_ASSIGN_OR_RETURN(f, WithFoundResult(f, out));
  }
  return out;
}

}  // namespace kiln
