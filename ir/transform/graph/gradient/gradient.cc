// Bindings are gone through from the last to the first. Each that has an
// adjoint by then adds to those of its operands:
//
//   y = R.exp(x)      y_adjoint is complete: all that use y stand behind it
//                     x_adjoint = R.multiply(y_adjoint, y)
//
// Only what depends on the variables asked for is looked at; what the adjoints
// do not need in the end is dropped.
#include "kiln/ir/transform/graph/gradient/gradient.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/dead_code.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/gradient/adjoints.h"
#include "kiln/ir/transform/graph/gradient/checkpoint.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Var;
using GraphExpr = graph::Expr;

// All bindings of the function, in order. They stay where they had effects.
absl::StatusOr<std::vector<Binding>> StraightLine(const graph::FunctionNode& f,
                                                  const Module& module) {
  const auto* seq = f.body ? f.body.As<graph::SeqNode>() : nullptr;
  if (!seq) return absl::InvalidArgumentError("it is only declared");
  std::vector<Binding> bindings;
  for (const graph::BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block.bindings) {
      if (binding.value.As<graph::IfNode>() ||
          binding.value.As<graph::FunctionNode>()) {
        return absl::UnimplementedError(
            absl::StrCat(binding.var->name,
                         ": branches and local functions have no gradient"));
      }
      if (!IsPure(binding.value, module)) {
        return absl::InvalidArgumentError(absl::StrCat(
            binding.var->name, ": ", PrintGraphExpr(binding.value),
            " has effects, which the adjoint function would repeat"));
      }
      bindings.push_back(binding);
    }
  }
  return bindings;
}

bool HoldsFloats(const graph::StructInfo& info) {
  if (const auto* tuple = info.As<graph::TupleInfo>()) {
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), HoldsFloats);
  }
  const auto* tensor = info.As<graph::TensorInfo>();
  return tensor && tensor->dtype.is_float();
}

class Differentiator {
 public:
  Differentiator(const Module& module, const GradientOptions& options,
                 const graph::FunctionNode& f, std::vector<Binding> bindings)
      : module_(module),
        options_(options),
        f_(f),
        forward_(std::move(bindings), f.body.As<graph::SeqNode>()->result),
        adjoints_(&block_) {
    block_.bindings() = forward_.bindings();
  }

  absl::StatusOr<graph::GraphFunction> Run() {
    KILN_RETURN_IF_ERROR(FindVariables());
    MarkActive();
    KILN_ASSIGN_OR_RETURN(const Var target, Target());
    const auto* info = target->info.As<graph::TensorInfo>();
    adjoints_.Add(target, graph::CallOp("ones", {ShapeOfInfo(*info)},
                                        {{"dtype", info->dtype.ToString()}}));
    const std::vector<Binding>& bindings = forward_.bindings();
    for (size_t i = bindings.size(); i-- > 0;) {
      KILN_RETURN_IF_ERROR(Backward(bindings[i]));
    }
    return Assemble();
  }

 private:
  absl::Status FindVariables() {
    if (!options_.variables) {
      variables_ = f_.params;
      return absl::OkStatus();
    }
    for (const std::string& name : *options_.variables) {
      const Var var = Named(name);
      if (!var.get()) {
        return absl::NotFoundError(
            absl::StrCat("there is no variable called ", name));
      }
      variables_.push_back(var);
    }
    return absl::OkStatus();
  }

  Var Named(const std::string& name) const {
    for (const Var& param : f_.params) {
      if (param->name == name) return param;
    }
    for (const Binding& binding : forward_.bindings()) {
      if (binding.var->name == name) return binding.var;
    }
    return {};
  }

  // A variable is active where it depends on those asked for.
  void MarkActive() {
    for (const Var& var : variables_) {
      if (HoldsFloats(var->info)) active_.insert(var.get());
    }
    for (const Binding& binding : forward_.bindings()) {
      if (IsActive(binding.value) && HoldsFloats(binding.var->info)) {
        active_.insert(binding.var.get());
      }
    }
  }

  bool IsActive(const GraphExpr& e) const {
    bool is_active = false;
    graph::Visit(e, [&](const GraphExpr& below) {
      is_active = is_active || active_.count(below.As<graph::VarNode>()) > 0;
      return true;
    });
    return is_active;
  }

  absl::StatusOr<Var> Target() const {
    GraphExpr target = forward_.result();
    if (const auto* tuple = target.As<graph::TupleNode>()) {
      const auto index = static_cast<size_t>(options_.target);
      if (options_.target < 0 || index >= tuple->fields.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("its result has no field ", options_.target));
      }
      target = tuple->fields[index];
    }
    const auto* var = target.As<graph::VarNode>();
    const auto* info = var ? var->info.As<graph::TensorInfo>() : nullptr;
    if (info && info->rank == 0 && info->dtype.is_float()) return Var(var);
    return absl::InvalidArgumentError(
        absl::StrCat("a float tensor of no dimensions is differentiated, and ",
                     PrintGraphExpr(target), " is ",
                     PrintStructInfo(var ? var->info : graph::InfoOf(target))));
  }

  absl::Status Backward(const Binding& binding) {
    const GraphExpr grad = adjoints_.Of(binding.var.get());
    if (!grad || !IsActive(binding.value)) return absl::OkStatus();
    const GraphExpr& value = binding.value;
    if (const auto* item = value.As<graph::TupleItemNode>()) {
      return adjoints_.AddToField(item->tuple, item->index, grad);
    }
    if (const auto* cast = value.As<graph::MatchCastNode>()) {
      adjoints_.Add(cast->value, grad);
      return absl::OkStatus();
    }
    if (const auto* call = value.As<graph::CallNode>()) {
      return OfCall(binding, *call, grad);
    }
    adjoints_.Add(value, grad);
    return absl::OkStatus();
  }

  absl::Status OfCall(const Binding& binding, const graph::CallNode& call,
                      const GraphExpr& grad) {
    std::vector<GraphExpr> args;
    for (const GraphExpr& arg : call.args) {
      args.push_back(forward_.Again(arg, block_.bindings()));
    }
    const GraphExpr result = forward_.Again(binding.var, block_.bindings());
    const GraphExpr again(
        new graph::CallNode(call.callee, args, call.attrs, call.infos));
    absl::StatusOr<Partials> partials =
        PartialsOf(*again.As<graph::CallNode>(),
                   Var(result.As<graph::VarNode>()), grad, Wanted(call));
    if (!partials.ok()) {
      return absl::Status(
          partials.status().code(),
          absl::StrCat(binding.var->name, ": ", partials.status().message()));
    }
    for (size_t i = 0; i < partials->size() && i < call.args.size(); ++i) {
      if (!(*partials)[i] || !IsActive(call.args[i])) continue;
      adjoints_.Add(call.args[i], (*partials)[i]);
    }
    return absl::OkStatus();
  }

  std::vector<bool> Wanted(const graph::CallNode& call) const {
    std::vector<bool> wanted;
    for (const GraphExpr& arg : call.args) wanted.push_back(IsActive(arg));
    return wanted;
  }

  absl::StatusOr<Partials> PartialsOf(const graph::CallNode& call,
                                      const Var& result, const GraphExpr& grad,
                                      std::vector<bool> wanted) {
    if (call.IsOp("call_tir_with_grad")) return OfFunction(call, grad);
    const auto* op = call.callee.As<graph::OpNode>();
    const GradientRow* row = op ? FindGradient(op->name) : nullptr;
    if (row) {
      return row->rule(
          GradientCall(call, result, grad, std::move(wanted),
                       [&](const GraphExpr& e) { return block_.Leaf(e); }));
    }
    return absl::UnimplementedError(absl::StrCat(
        PrintGraphExpr(GraphExpr(&call)),
        " has no gradient; R.grad.no_grad keeps an operand out of it, "
        "R.call_tir_with_grad names a gradient of its own, and calls of "
        "graph functions can be inlined first"));
  }

  // The tensor function that `te_grad_name` names writes the partials.
  absl::StatusOr<Partials> OfFunction(const graph::CallNode& call,
                                      const GraphExpr& grad) {
    const auto found = call.attrs.find("te_grad_name");
    const std::string* name =
        found == call.attrs.end() ? nullptr : found->second.string();
    if (!name || !module_.Find(*name)) {
      return absl::NotFoundError(absl::StrCat(
          "no tensor function of the module is called ",
          name ? *name : "by `te_grad_name`", ", which gives the gradient of ",
          PrintGraphExpr(GraphExpr(&call))));
    }
    std::vector<GraphExpr> args = FieldsOf(grad, call.infos.size());
    const auto* inputs = call.args[1].As<graph::TupleNode>();
    const std::vector<GraphExpr> given =
        inputs ? inputs->fields : std::vector<GraphExpr>{call.args[1]};
    std::vector<graph::StructInfo> outputs;
    for (const GraphExpr& input : given) {
      args.push_back(input);
      outputs.push_back(graph::InfoOf(input));
    }
    std::vector<GraphExpr> all = {graph::Global(*name),
                                  graph::TupleOf(std::move(args))};
    all.insert(all.end(), call.args.begin() + 2, call.args.end());
    const GraphExpr partials =
        block_.Leaf(graph::CallOp("call_tir", std::move(all), {}, outputs));
    return Partials{GraphExpr(), outputs.size() == 1
                                     ? graph::TupleOf({partials})
                                     : partials};
  }

  static std::vector<GraphExpr> FieldsOf(const GraphExpr& e, size_t count) {
    if (count == 1) return {e};
    std::vector<GraphExpr> fields;
    for (size_t i = 0; i < count; ++i) {
      fields.push_back(graph::Item(e, static_cast<int>(i)));
    }
    return fields;
  }

  absl::StatusOr<graph::GraphFunction> Assemble() {
    std::vector<GraphExpr> outputs;
    for (const Var& var : variables_) {
      if (!adjoints_.Of(var.get())) {
        KILN_ASSIGN_OR_RETURN(const GraphExpr zeros, ZerosOf(var->info));
        adjoints_.Add(var, zeros);
      }
      const Var out(absl::StrCat(var->name, "_adjoint_out"));
      block_.Bind(out, adjoints_.Of(var.get()));
      outputs.push_back(out);
    }
    graph::FunctionFields fields = f_.fields();
    fields.name =
        UniqueFunctionName(module_, absl::StrCat(f_.name, "_adjoint"));
    fields.attrs.erase("global_symbol");
    fields.result = {};
    fields.body = graph::Seq(
        {{true, WithPlainCalls()}},
        graph::TupleOf({forward_.result(), graph::TupleOf(outputs)}));
    return graph::GraphFunction(std::move(fields));
  }

  // Nobody differentiates what this function calls.
  std::vector<Binding> WithPlainCalls() {
    std::vector<Binding> bindings = std::move(block_.bindings());
    for (Binding& binding : bindings) {
      const auto* call = binding.value.As<graph::CallNode>();
      if (!call || !call->IsOp("call_tir_with_grad")) continue;
      binding.value = graph::CallOp("call_tir", call->args, {}, call->infos);
    }
    return bindings;
  }

  const Module& module_;
  const GradientOptions& options_;
  const graph::FunctionNode& f_;
  Checkpoints forward_;
  AdjointBlock block_;
  Adjoints adjoints_;
  std::vector<Var> variables_;
  std::unordered_set<const graph::VarNode*> active_;
};

absl::StatusOr<graph::GraphFunction> AdjointOf(const graph::FunctionNode& f,
                                               const Module& module,
                                               const GradientOptions& options) {
  const GraphExpr fresh = graph::WithFreshVars(GraphExpr(&f));
  const auto& copy = *fresh.As<graph::FunctionNode>();
  KILN_ASSIGN_OR_RETURN(std::vector<Binding> bindings,
                        StraightLine(copy, module));
  KILN_ASSIGN_OR_RETURN(
      const graph::GraphFunction adjoint,
      Differentiator(module, options, copy, std::move(bindings)).Run());
  return InferFunction(*WithoutUnusedBindings(adjoint, module), module);
}

}  // namespace

absl::StatusOr<Module> Gradient(const Module& module,
                                const GradientOptions& options) {
  const graph::FunctionNode* f = module.FindGraph(options.function);
  if (!f) {
    return absl::NotFoundError(absl::StrCat(
        "the module has no graph function called ", options.function));
  }
  absl::StatusOr<graph::GraphFunction> adjoint = AdjointOf(*f, module, options);
  if (!adjoint.ok()) {
    return absl::Status(
        adjoint.status().code(),
        absl::StrCat(f->name, ": ", adjoint.status().message()));
  }
  Module out = module;
  out.graph_functions.push_back(*std::move(adjoint));
  return out;
}

}  // namespace kiln
