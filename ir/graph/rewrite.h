// Rebuilding graph functions.
//
//   // Every sigmoid becomes 1 / (1 + exp(-x)), in bindings of its own.
//   Expr out = RewriteBindings(f.body, [](const Binding& b, Emitter& emit) {
//     const auto* call = b.value.As<CallNode>();
//     if (!call || !call->IsOp("sigmoid")) return false;
//     const Expr minus = emit.Emit(CallOp("negative", {call->args[0]}));
//     const Expr sum = emit.Emit(CallOp("add", {emit.Emit(CallOp("exp",
//                                               {minus})), one}));
//     emit.Emit(b.var, CallOp("divide", {one, sum}));
//     return true;
//   });
//
// A variable whose struct info changes becomes another variable; all its uses
// follow. Struct info that a rewrite leaves null is found by inference
// (ir/ops/infer.h).
#ifndef KILN_IR_GRAPH_REWRITE_H_
#define KILN_IR_GRAPH_REWRITE_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::graph {

// Rebuilds `e` with each direct operand replaced by `map(operand)`, bindings by
// their values; the same node where none changed. Struct info and variables
// that are bound stay.
Expr MapOperands(const Expr& e, FunctionRef<Expr(const Expr&)> map);

// Rebuilds `e`, parents first: `rewrite` gives the replacement of an
// expression, or null to go on below it. Replacements are not rewritten again.
Expr Rewrite(const Expr& e, FunctionRef<Expr(const Expr&)> rewrite);

// Rebuilds struct info with the scalars and the variables in it mapped.
StructInfo MapInfo(const StructInfo& info,
                   FunctionRef<Scalar(const Scalar&)> map_scalar,
                   FunctionRef<Expr(const Expr&)> map_shape);

// What stands for variables: of the tensor level, in shapes and numbers, and of
// graph functions.
struct Substitution {
  VarMap scalars;
  std::unordered_map<const VarNode*, Expr> vars;
  bool is_empty() const { return scalars.empty() && vars.empty(); }
};

// Replaces variables everywhere, struct info included: variables bound in `e`
// whose info changes become others. Where a tensor's shape is a variable that
// is replaced by a ShapeNode, it has these extents.
Expr Substitute(const Expr& e, const Substitution& substitution);
StructInfo Substitute(const StructInfo& info, const Substitution& substitution);

// Replaces numbers and extents everywhere, struct info included, as whole
// expressions of the tensor level.
Expr RewriteScalars(const Expr& e, FunctionRef<Scalar(const Scalar&)> map);

// A copy in which everything that `e` binds, parameters of functions included,
// is a variable of its own; so that it can stand beside `e`. Symbolic
// dimensions that a function's parameters bring in are not renewed.
Expr WithFreshVars(const Expr& e);

// Takes the bindings that stand for one binding.
class Emitter {
 public:
  Emitter(bool is_dataflow, std::vector<Binding>* out,
          Substitution* substitution)
      : is_dataflow_(is_dataflow), out_(out), substitution_(substitution) {}

  // Binds `value` to a new variable without struct info, of a dataflow block
  // where the rewritten binding stands in one.
  Var Emit(Expr value, std::string name = "lv");
  void Emit(Var var, Expr value) {
    out_->push_back({std::move(var), std::move(value)});
  }
  // All later uses of `var` read `value`, a variable or another leaf.
  void Replace(const Var& var, Expr value) {
    substitution_->vars[var.get()] = std::move(value);
  }
  bool is_dataflow() const { return is_dataflow_; }

 private:
  const bool is_dataflow_;
  std::vector<Binding>* out_;
  Substitution* substitution_;
};

// Asked about each binding, whose value has been rewritten (uses of replaced
// variables, bindings inside of it): emits what stands for it and gives true,
// or gives false to keep it.
using BindingRule = FunctionRef<bool(const Binding&, Emitter&)>;

// Rewrites every binding of `e`, in order of evaluation.
Expr RewriteBindings(const Expr& e, BindingRule rule);

// A copy of `f` with another body.
GraphFunction WithBody(const FunctionNode& f, Expr body);

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_REWRITE_H_
