#include "kiln/ir/transform/graph/convert_to_dataflow.h"

#include <utility>
#include <vector>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using graph::Expr;

constexpr size_t kFewestBindings = 2;

bool MayStandInDataflow(const Binding& binding, const Module& module) {
  return !binding.value.As<graph::IfNode>() &&
         !binding.value.As<graph::FunctionNode>() &&
         IsPure(binding.value, module);
}

// Blocks of bindings that all may stand in dataflow, or all may not; blocks
// that are dataflow already are continued.
std::vector<BindingBlock> Regrouped(const std::vector<BindingBlock>& blocks,
                                    const Module& module) {
  std::vector<BindingBlock> out;
  for (const BindingBlock& block : blocks) {
    for (const Binding& binding : block.bindings) {
      const bool is_dataflow =
          block.is_dataflow || MayStandInDataflow(binding, module);
      if (out.empty() || out.back().is_dataflow != is_dataflow) {
        out.push_back({is_dataflow, {}});
      }
      out.back().bindings.push_back(binding);
    }
  }
  return out;
}

// A block of too few bindings joins the ones around it.
std::vector<BindingBlock> WithoutShort(std::vector<BindingBlock> blocks) {
  std::vector<BindingBlock> out;
  for (BindingBlock& block : blocks) {
    const bool hides = block.is_dataflow && block.bindings[0].var->is_dataflow;
    if (block.bindings.size() < kFewestBindings && !hides) {
      block.is_dataflow = false;
    }
    if (out.empty() || out.back().is_dataflow != block.is_dataflow) {
      out.push_back(std::move(block));
      continue;
    }
    for (Binding& binding : block.bindings) {
      out.back().bindings.push_back(std::move(binding));
    }
  }
  return out;
}

Expr Converted(const Expr& e, const Module& module) {
  const Expr below = graph::MapOperands(
      e, [&](const Expr& operand) { return Converted(operand, module); });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  return graph::Seq(WithoutShort(Regrouped(seq->blocks, module)), seq->result);
}

}  // namespace

absl::StatusOr<Module> ConvertToDataflow(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (IsPrimitive(*f)) continue;
    f = graph::WithBody(*f, Converted(f->body, module));
  }
  return out;
}

}  // namespace kiln
