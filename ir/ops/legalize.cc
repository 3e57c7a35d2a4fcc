#include "kiln/ir/ops/legalize.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;

// The tensors among the arguments, tuples field by field.
std::vector<graph::Expr> TensorsOf(const graph::CallNode& call) {
  std::vector<graph::Expr> tensors;
  for (const graph::Expr& arg : call.args) {
    const StructInfo info = graph::InfoOf(arg);
    if (info.As<graph::TensorInfo>()) tensors.push_back(arg);
    const auto* tuple = arg.As<graph::TupleNode>();
    if (tuple) {
      for (const graph::Expr& field : tuple->fields) {
        if (graph::InfoOf(field).As<graph::TensorInfo>()) {
          tensors.push_back(field);
        }
      }
    }
  }
  return tensors;
}

bool IsComplete(const StructInfo& info) {
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && tensor->extents() && !tensor->dtype.is_void();
}

// What a tensor function writes; nullopt where it is not known.
std::optional<std::vector<StructInfo>> Outputs(const StructInfo& info) {
  const auto* tuple = info.As<graph::TupleInfo>();
  std::vector<StructInfo> outputs =
      tuple ? tuple->fields : std::vector<StructInfo>{info};
  if (std::all_of(outputs.begin(), outputs.end(), IsComplete)) return outputs;
  return std::nullopt;
}

// "softmax" of "nn.softmax".
std::string ShortName(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

absl::StatusOr<graph::Expr> LegalizeCall(const graph::CallNode& call,
                                         const StructInfo& result,
                                         Module& module) {
  const auto* op = call.callee.As<graph::OpNode>();
  const OpRow* row = op ? FindOp(op->name) : nullptr;
  if (!row || !row->lower) return graph::Expr();
  const std::optional<std::vector<StructInfo>> outputs = Outputs(result);
  const std::vector<graph::Expr> args = TensorsOf(call);
  if (!outputs) return graph::Expr();
  std::vector<te::Tensor> inputs;
  for (const graph::Expr& arg : args) {
    const StructInfo info = graph::InfoOf(arg);
    if (!IsComplete(info)) return graph::Expr();
    const auto* var = arg.As<graph::VarNode>();
    KILN_ASSIGN_OR_RETURN(te::Tensor input,
                          PlaceholderFor(info, var ? var->name : "constant"));
    inputs.push_back(std::move(input));
  }
  Analyzer analyzer;
  absl::StatusOr<Lowered> lowered =
      row->lower(OpCall(call, {&module, &analyzer}), inputs);
  if (absl::IsUnimplemented(lowered.status())) return graph::Expr();
  if (!lowered.ok()) return lowered.status();
  return CallLowered(ShortName(op->name), args, inputs, *std::move(lowered),
                     *outputs, module);
}

absl::StatusOr<Module> LegalizeOps(const Module& module) {
  Module legal = module;
  absl::Status status;
  for (graph::GraphFunction& f : legal.graph_functions) {
    const graph::Expr e = graph::RewriteBindings(
        f, [&](const graph::Binding& binding, graph::Emitter& emit) {
          if (!status.ok()) return false;
          const auto* call = binding.value.As<graph::CallNode>();
          if (!call) return false;
          absl::StatusOr<graph::Expr> lowered =
              LegalizeCall(*call, binding.var->info, legal);
          if (!lowered.ok()) status = lowered.status();
          if (!lowered.ok() || !*lowered) return false;
          emit.Emit(binding.var, *std::move(lowered));
          return true;
        });
    KILN_RETURN_IF_ERROR(status);
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return legal;
}

}  // namespace kiln
