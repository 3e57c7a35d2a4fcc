// One binding after the other: an op whose operands and results are known well
// enough becomes a call of a tensor function, another one what it expands to.
// A tuple that is a variable is taken apart ahead of the call:
//
//   y = R.concat(t)      a = t[0]
//                        b = t[1]
//                        y = R.call_tir(cls.concat, (a, b), out_sinfo=...)
//
// Extents that the op needs equal and that nobody can prove equal are compared
// at run time, ahead of the call, since its kernel relies on them:
//
//   y = R.matmul(x, w)
//       matmul_extents = R.match_cast(R.shape([k]), R.Shape([m]))
//       y = R.call_tir(cls.matmul, (x, w), out_sinfo=...)
//
// Where inference left the result open for that reason alone, the comparison
// tells it: of (n, 4) beside (m, 4) comes an (n, 8) once n and m are compared.
#include "kiln/ir/ops/legalize.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;

// The tensors among the arguments, tuples field by field. Those of a variable
// need `bindings` of their own.
struct Operands {
  std::vector<graph::Expr> tensors;
  std::vector<graph::Binding> bindings;
};

std::vector<graph::Expr> FieldsOf(const graph::Expr& tuple, bool is_dataflow,
                                  std::vector<graph::Binding>& bindings) {
  if (const auto* known = tuple.As<graph::TupleNode>()) return known->fields;
  const StructInfo info = graph::InfoOf(tuple);
  std::vector<graph::Expr> fields;
  for (const StructInfo& field : info.As<graph::TupleInfo>()->fields) {
    const graph::Var var("lv", field, is_dataflow);
    const int index = static_cast<int>(fields.size());
    bindings.push_back({var, graph::Item(tuple, index)});
    fields.push_back(var);
  }
  return fields;
}

Operands OperandsOf(const graph::CallNode& call, bool is_dataflow) {
  Operands operands;
  for (const graph::Expr& arg : call.args) {
    const StructInfo info = graph::InfoOf(arg);
    std::vector<graph::Expr> fields = {arg};
    if (info.As<graph::TupleInfo>()) {
      fields = FieldsOf(arg, is_dataflow, operands.bindings);
    }
    for (const graph::Expr& field : fields) {
      if (graph::InfoOf(field).As<graph::TensorInfo>()) {
        operands.tensors.push_back(field);
      }
    }
  }
  return operands;
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

// Placeholders for the operands; nullopt where one is not known well enough.
absl::StatusOr<std::optional<std::vector<te::Tensor>>> InputsFor(
    const Operands& operands) {
  std::vector<te::Tensor> inputs;
  for (const graph::Expr& tensor : operands.tensors) {
    const StructInfo info = graph::InfoOf(tensor);
    if (!IsComplete(info)) return std::optional<std::vector<te::Tensor>>();
    const auto* var = tensor.As<graph::VarNode>();
    KILN_ASSIGN_OR_RETURN(te::Tensor input,
                          PlaceholderFor(info, var ? var->name : "constant"));
    inputs.push_back(std::move(input));
  }
  return std::optional<std::vector<te::Tensor>>(std::move(inputs));
}

// The argument of `call` that holds this number; null where there is none.
graph::Expr ArgumentThatIs(const graph::Scalar& number,
                           const graph::CallNode& call) {
  for (const graph::Expr& arg : call.args) {
    const StructInfo info = graph::InfoOf(arg);
    const auto* prim = info.As<graph::PrimInfo>();
    const bool is_it = prim && prim->value.get() == number.get();
    if (is_it && arg.As<graph::VarNode>()) return arg;
  }
  return graph::Expr();
}

// `made`, where numbers that are arguments of `call` stand as these do there.
graph::Expr WithArguments(const graph::Expr& made,
                          const graph::CallNode& call) {
  return graph::Rewrite(made, [&](const graph::Expr& e) {
    const auto* number = e.As<graph::PrimNode>();
    return number ? ArgumentThatIs(number->value, call) : graph::Expr();
  });
}

// The call of a tensor function; null where there is none.
absl::StatusOr<graph::Expr> CallOfFunction(const OpRow& row, const OpCall& call,
                                           const StructInfo& result,
                                           graph::Emitter& emit,
                                           Module& module) {
  const std::optional<std::vector<StructInfo>> outputs = Outputs(result);
  if (!row.lower || !outputs) return graph::Expr();
  const Operands operands = OperandsOf(call.node(), emit.is_dataflow());
  KILN_ASSIGN_OR_RETURN(const auto inputs, InputsFor(operands));
  if (!inputs) return graph::Expr();
  absl::StatusOr<Lowered> lowered = row.lower(call, *inputs);
  if (absl::IsUnimplemented(lowered.status())) return graph::Expr();
  if (!lowered.ok()) return lowered.status();
  for (const graph::Binding& field : operands.bindings) {
    emit.Emit(field.var, field.value);
  }
  KILN_ASSIGN_OR_RETURN(
      const graph::Expr made,
      CallLowered(ShortName(call.name()), operands.tensors, *inputs,
                  *std::move(lowered), *outputs, module));
  return WithArguments(made, call.node());
}

// Emits the comparison of what the call assumes, if anything.
absl::Status EmitAssumptions(const OpRow& row, const graph::CallNode& call,
                             OpContext context, graph::Emitter& emit) {
  std::vector<EqualExtents> assumed;
  context.assumed = &assumed;
  KILN_RETURN_IF_ERROR(row.infer(OpCall(call, context)).status());
  std::vector<Expr> own, wanted;
  for (const EqualExtents& pair : assumed) {
    own.push_back(pair.a);
    wanted.push_back(pair.b);
  }
  if (own.empty()) return absl::OkStatus();
  const StructInfo info = graph::Shape(std::move(wanted));
  const std::string name = absl::StrCat(
      ShortName(call.callee.As<graph::OpNode>()->name), "_extents");
  emit.Emit(graph::Var(name, info, emit.is_dataflow()),
            graph::Expr(new graph::MatchCastNode(
                graph::Expr(new graph::ShapeNode(std::move(own))), info)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<graph::Expr> LegalizeCall(const graph::CallNode& call,
                                         const StructInfo& result,
                                         graph::Emitter& emit, Module& module) {
  const auto* op = call.callee.As<graph::OpNode>();
  const OpRow* row = op ? FindOp(op->name) : nullptr;
  if (!row) return graph::Expr();
  Analyzer analyzer;
  const OpContext context{&module, &analyzer};
  const OpCall view(call, context);
  std::vector<EqualExtents> assumed;
  const OpCall checked(call, {&module, &analyzer, &assumed});
  StructInfo known = result;
  if (!Outputs(result)) {
    KILN_ASSIGN_OR_RETURN(known, row->infer(checked));
  }
  KILN_ASSIGN_OR_RETURN(const graph::Expr lowered,
                        CallOfFunction(*row, checked, known, emit, module));
  if (lowered) {
    KILN_RETURN_IF_ERROR(EmitAssumptions(*row, call, context, emit));
  }
  if (lowered || !row->expand) return lowered;
  absl::StatusOr<graph::Expr> expanded = row->expand(view);
  if (absl::IsUnimplemented(expanded.status())) return graph::Expr();
  return expanded;
}

namespace {

// Binds `var` to the value, the bindings of a sequence ahead of it.
void EmitValue(const graph::Var& var, const graph::Expr& value,
               graph::Emitter& emit) {
  const auto* seq = value.As<graph::SeqNode>();
  graph::Substitution own;
  for (size_t i = 0; seq && i < seq->blocks.size(); ++i) {
    for (const graph::Binding& binding : seq->blocks[i].bindings) {
      own.vars[binding.var.get()] =
          emit.Emit(graph::Substitute(binding.value, own), binding.var->name);
    }
  }
  emit.Emit(var, seq ? graph::Substitute(seq->result, own) : value);
}

// One round over a function. Null where nothing is left to do; ops may have
// become calls of other ops.
absl::StatusOr<graph::Expr> LegalizeOnce(const graph::GraphFunction& f,
                                         Module& module) {
  absl::Status status;
  bool has_changed = false;
  const graph::Expr e = graph::RewriteBindings(
      f, [&](const graph::Binding& binding, graph::Emitter& emit) {
        const auto* call = binding.value.As<graph::CallNode>();
        if (!call || !status.ok()) return false;
        absl::StatusOr<graph::Expr> value =
            LegalizeCall(*call, binding.var->info, emit, module);
        if (!value.ok()) status = value.status();
        if (!value.ok() || !*value) return false;
        EmitValue(binding.var, *value, emit);
        has_changed = true;
        return true;
      });
  KILN_RETURN_IF_ERROR(status);
  return has_changed ? e : graph::Expr();
}

}  // namespace

absl::StatusOr<Module> LegalizeOps(const Module& module) {
  Module legal = module;
  for (graph::GraphFunction& f : legal.graph_functions) {
    while (true) {
      KILN_ASSIGN_OR_RETURN(const graph::Expr e, LegalizeOnce(f, legal));
      if (!e) break;
      KILN_ASSIGN_OR_RETURN(f,
                            InferFunction(*e.As<graph::FunctionNode>(), legal));
    }
  }
  return legal;
}

}  // namespace kiln
