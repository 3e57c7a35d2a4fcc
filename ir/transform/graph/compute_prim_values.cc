// A number is a leaf: an operand of a call, of a tuple or of a branch, or the
// value of a binding. One that has an operator becomes a function of the
// dimensions in it, and a call of that:
//
//   if n % 16 == 0: ...
//
//   gv = cls.compute_symbolic_expr(n)          return n % 16 == 0
//   if gv: ...
//
// Equal numbers share a function.
#include "kiln/ir/transform/graph/compute_prim_values.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Emitter;

const Expr* ComputedNumber(const graph::Expr& e) {
  const auto* number = e.As<graph::PrimNode>();
  const bool is_leaf = !number || number->value.As<IntImmNode>() ||
                       number->value.As<FloatImmNode>() ||
                       number->value.As<VarNode>() != nullptr;
  return is_leaf ? nullptr : &number->value;
}

class Outlining {
 public:
  explicit Outlining(Module& module) : module_(module) {}

  graph::Expr Run(const graph::Expr& e) {
    return WithResults(graph::RewriteBindings(
        e, [&](const Binding& b, Emitter& emit) { return Rewrite(b, emit); }));
  }

 private:
  bool Rewrite(const Binding& binding, Emitter& emit) {
    if (const Expr* number = ComputedNumber(binding.value)) {
      const graph::Var var(binding.var->name, {}, binding.var->is_dataflow);
      emit.Emit(var, CallOf(*number));
      emit.Replace(binding.var, var);
      return true;
    }
    const graph::Expr value =
        WithCalls(binding.value, [&](const graph::Expr& call) -> graph::Expr {
          return emit.Emit(call, "gv");
        });
    if (value.get() == binding.value.get()) return false;
    emit.Emit(binding.var, value);
    return true;
  }

  // `e` with calls, as `bind` binds them, in the place of numbers.
  graph::Expr WithCalls(const graph::Expr& e,
                        FunctionRef<graph::Expr(const graph::Expr&)> bind) {
    if (e.As<graph::SeqNode>() || e.As<graph::FunctionNode>()) return e;
    if (const Expr* number = ComputedNumber(e)) return bind(CallOf(*number));
    return graph::MapOperands(e, [&](const graph::Expr& operand) {
      return WithCalls(operand, bind);
    });
  }

  // Results of sequences are no bindings.
  graph::Expr WithResults(const graph::Expr& e) {
    const graph::Expr below = graph::MapOperands(
        e, [&](const graph::Expr& operand) { return WithResults(operand); });
    const auto* seq = below.As<graph::SeqNode>();
    if (!seq) return below;
    graph::BindingBlock block;
    const graph::Expr result =
        WithCalls(seq->result, [&](const graph::Expr& call) -> graph::Expr {
          const graph::Var var("gv", {});
          block.bindings.push_back({var, call});
          return var;
        });
    if (block.bindings.empty()) return below;
    std::vector<graph::BindingBlock> blocks = seq->blocks;
    blocks.push_back(std::move(block));
    return graph::Seq(std::move(blocks), result);
  }

  graph::Expr CallOf(const Expr& number) {
    Function f;
    f.name = "compute_symbolic_expr";
    f.is_private = true;
    f.attrs["tirx.is_host_func"] = Bool(true);
    std::vector<graph::Expr> args;
    VarMap own;
    for (const Var& dim : FreeVars(number)) {
      f.params.push_back({Var(dim.name(), dim.dtype()), nullptr});
      own.emplace(dim.get(), f.params.back().var);
      args.push_back(graph::Number(dim));
    }
    f.body = ReturnOf(Substitute(number, own));
    const std::string name = AddTensorFunction(std::move(f), module_);
    return graph::Expr(
        new graph::CallNode(graph::Global(name), std::move(args), {}, {}));
  }

  Module& module_;
};

// The number that a call gives; null where it calls no such function.
absl::StatusOr<graph::Expr> InlinedCall(const graph::Expr& e,
                                        const Module& module) {
  const auto* call = e.As<graph::CallNode>();
  const auto* global = call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
  const Function* f = global ? module.Find(global->name) : nullptr;
  const Expr value = f ? ReturnedValue(*f) : Expr();
  if (!value) return graph::Expr();
  VarMap known;
  for (size_t i = 0; i < f->params.size() && i < call->args.size(); ++i) {
    const auto* number = call->args[i].As<graph::PrimNode>();
    if (number) known.emplace(f->params[i].var.get(), number->value);
  }
  if (known.size() != f->params.size()) {
    return absl::UnimplementedError(absl::StrCat(
        f->name,
        " returns a number of its arguments, of which one is known "
        "only when the program runs; hand it symbolic dimensions: ",
        PrintGraphExpr(e)));
  }
  return graph::Number(Analyzer().Simplify(Substitute(value, known)));
}

Module WithoutUncalled(Module module) {
  std::set<std::string> named;
  for (const auto& f : module.graph_functions) AddNames(f, named);
  std::vector<Function> kept;
  for (Function& f : module.functions) {
    const bool is_dead =
        f.is_private && ReturnedValue(f) && named.count(f.name) == 0;
    if (!is_dead) kept.push_back(std::move(f));
  }
  module.functions = std::move(kept);
  return module;
}

}  // namespace

absl::StatusOr<Module> ComputePrimValues(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = Outlining(out).Run(f);
    if (e.get() == f.get()) continue;
    // The result is a number of which less is known.
    graph::FunctionFields fields = e.As<graph::FunctionNode>()->fields();
    fields.result = {};
    f = graph::GraphFunction(std::move(fields));
  }
  return out;
}

absl::StatusOr<Module> InlinePrimValues(const Module& module) {
  absl::Status status;
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e =
        graph::RewriteBindings(f, [&](const Binding& b, Emitter& emit) {
          const absl::StatusOr<graph::Expr> number =
              InlinedCall(b.value, module);
          status.Update(number.status());
          if (!number.ok() || !*number) return false;
          emit.Replace(b.var, *number);
          return true;
        });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  KILN_RETURN_IF_ERROR(status);
  return WithoutUncalled(std::move(out));
}

}  // namespace kiln
