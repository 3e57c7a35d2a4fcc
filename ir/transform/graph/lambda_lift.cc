// Innermost functions first. What a function needs from around it becomes
// parameters behind its own; where it calls itself, it hands them on:
//
//   def loop(i): return loop(R.add(i, x))
//   def main_loop(i, x): return cls.main_loop(R.add(i, x), x)
//
// So do dimensions that its own parameters do not tell, as a shape: n, where
// the only parameter is R.Tensor((n * 2, 4)).
#include "kiln/ir/transform/graph/lambda_lift.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Expr;
using graph::Var;

using VarSet = std::set<const graph::VarNode*>;

void AddBound(const Expr& e, VarSet& bound) {
  graph::Visit(e, [&](const Expr& below) {
    if (const auto* f = below.As<graph::FunctionNode>()) {
      for (const Var& param : f->params) bound.insert(param.get());
    }
    if (const auto* seq = below.As<graph::SeqNode>()) {
      for (const graph::BindingBlock& block : seq->blocks) {
        for (const graph::Binding& b : block.bindings) {
          bound.insert(b.var.get());
        }
      }
    }
    return true;
  });
}

// The variables of `f` from around it, but for itself, in order of use.
std::vector<Var> Captured(const graph::FunctionNode& f, const Var& self) {
  VarSet known = {self.get()};
  AddBound(Expr(&f), known);
  std::vector<Var> captured;
  graph::Visit(f.body, [&](const Expr& e) {
    const auto* var = e.As<graph::VarNode>();
    if (var && known.insert(var).second) captured.emplace_back(var);
    return true;
  });
  return captured;
}

using ScalarSet = std::set<const kiln::VarNode*>;

void AddDefined(const graph::StructInfo& info, ScalarSet& known) {
  for (const kiln::Var& var : graph::DefinedScalars(info)) {
    known.insert(var.get());
  }
}

// The dimensions that are known where a local function stands, by the variable
// that is bound to it.
class KnownDims {
 public:
  explicit KnownDims(const graph::FunctionNode& f) { AddFunction(f, {}); }

  const ScalarSet& At(const Var& local) { return known_[local.get()]; }

 private:
  void AddFunction(const graph::FunctionNode& f, ScalarSet known) {
    for (const Var& param : f.params) AddDefined(param->info, known);
    AddBody(f.body, std::move(known));
  }

  void AddBody(const Expr& body, ScalarSet known) {
    const auto* seq = body.As<graph::SeqNode>();
    if (!seq) return;
    for (const graph::BindingBlock& block : seq->blocks) {
      for (const graph::Binding& binding : block.bindings) {
        Add(binding, known);
      }
    }
  }

  void Add(const graph::Binding& binding, ScalarSet& known) {
    if (const auto* cast = binding.value.As<graph::MatchCastNode>()) {
      AddDefined(cast->info, known);
    }
    if (const auto* branch = binding.value.As<graph::IfNode>()) {
      AddBody(branch->then_body, known);
      AddBody(branch->else_body, known);
    }
    if (const auto* f = binding.value.As<graph::FunctionNode>()) {
      known_[binding.var.get()] = known;
      AddFunction(*f, known);
    }
  }

  std::unordered_map<const graph::VarNode*, ScalarSet> known_;
};

// What of `known` the function needs and its parameters do not tell.
std::vector<graph::Scalar> Untold(const graph::FunctionNode& f,
                                  const std::vector<Var>& captured,
                                  const ScalarSet& known) {
  ScalarSet told;
  for (const Var& param : f.params) AddDefined(param->info, told);
  for (const Var& param : captured) AddDefined(param->info, told);
  std::vector<graph::Scalar> untold;
  const auto add = [&](const graph::Scalar& e) {
    for (const kiln::Var& var : FreeVars(e)) {
      if (known.count(var.get()) == 0) continue;
      if (told.insert(var.get()).second) untold.emplace_back(var);
    }
  };
  for (const Var& param : f.params) graph::VisitScalars(param->info, add);
  for (const Var& param : captured) graph::VisitScalars(param->info, add);
  graph::VisitScalars(f.body, add);
  return untold;
}

class Lifter {
 public:
  explicit Lifter(const Module& module) : out_(module) {}

  Module Run() {
    const size_t count = out_.graph_functions.size();
    for (size_t i = 0; i < count; ++i) {
      top_ = out_.graph_functions[i]->name;
      KnownDims known(*out_.graph_functions[i]);
      known_ = &known;
      const Expr lifted = Map(out_.graph_functions[i]);
      out_.graph_functions[i] =
          graph::GraphFunction(lifted.As<graph::FunctionNode>());
    }
    return std::move(out_);
  }

 private:
  Expr Map(const Expr& e) {
    return graph::RewriteBindings(
        e, [&](const graph::Binding& binding, graph::Emitter& emit) {
          if (const auto* f = binding.value.As<graph::FunctionNode>()) {
            return Lift(binding.var, *f, emit);
          }
          const auto* call = binding.value.As<graph::CallNode>();
          const bool is_invoked =
              call && closures_.count(call->callee.As<graph::VarNode>()) > 0;
          if (!is_invoked) return GivesClosure(binding, emit);
          emit.Emit(binding.var, Invoked(*call, binding.var->info));
          return true;
        });
  }

  // A variable that is a function without being bound to one holds a closure.
  bool GivesClosure(const graph::Binding& binding, graph::Emitter& emit) {
    if (!binding.var->info.As<graph::FunctionInfo>()) return false;
    const Var var(binding.var->name, graph::Object(), binding.var->is_dataflow);
    closures_.insert(var.get());
    kept_.push_back(var);
    is_pure_[var.get()] = binding.var->info.As<graph::FunctionInfo>()->is_pure;
    emit.Emit(var, binding.value);
    emit.Replace(binding.var, var);
    return true;
  }

  Expr Invoked(const graph::CallNode& call, const graph::StructInfo& info) {
    const bool is_pure = is_pure_[call.callee.As<graph::VarNode>()];
    return graph::CallOp(is_pure ? "invoke_pure_closure" : "invoke_closure",
                         {call.callee, graph::TupleOf(call.args)}, {}, {info});
  }

  std::string NameFor(const Var& var) const {
    const std::string base = absl::StrCat(top_, "_", var->name);
    std::string name = base;
    for (int i = 0; out_.Find(name) || out_.FindGraph(name); ++i) {
      name = absl::StrCat(base, "_", i);
    }
    return name;
  }

  bool Lift(const Var& var, const graph::FunctionNode& f,
            graph::Emitter& emit) {
    const std::string name = NameFor(var);
    std::vector<Var> captured = Captured(f, var);
    std::vector<Expr> values(captured.begin(), captured.end());
    std::vector<graph::Scalar> dims = Untold(f, captured, known_->At(var));
    if (!dims.empty()) {
      captured.emplace_back("dims", graph::Shape(dims));
      values.push_back(graph::ShapeOf(std::move(dims)));
    }
    AddFunction(name, f, var, captured);
    if (captured.empty()) {
      emit.Replace(var, graph::Global(name));
      return true;
    }
    const Var closure(var->name, graph::Object(), var->is_dataflow);
    closures_.insert(closure.get());
    kept_.push_back(closure);
    is_pure_[closure.get()] = f.is_pure;
    emit.Emit(closure, graph::CallOp("make_closure",
                                     {graph::Global(name),
                                      graph::TupleOf(std::move(values))}));
    emit.Replace(var, closure);
    return true;
  }

  void AddFunction(const std::string& name, const graph::FunctionNode& f,
                   const Var& self, const std::vector<Var>& captured) {
    graph::FunctionFields fields = f.fields();
    fields.name = name;
    fields.is_private = true;
    if (fields.result.As<graph::FunctionInfo>()) {
      fields.result = graph::Object();
    }
    for (const Var& var : captured) fields.params.push_back(var);
    fields.body = graph::Rewrite(f.body, [&](const Expr& e) {
      const auto* call = e.As<graph::CallNode>();
      if (call && call->callee.get() == self.get()) {
        std::vector<Expr> args = call->args;
        args.insert(args.end(), captured.begin(), captured.end());
        return Expr(new graph::CallNode(graph::Global(name), std::move(args),
                                        call->attrs, call->infos));
      }
      return e.get() == self.get() ? Expr(graph::Global(name)) : Expr();
    });
    const Expr own = graph::WithFreshVars(
        WithPlainParams(graph::GraphFunction(std::move(fields))));
    out_.graph_functions.emplace_back(own.As<graph::FunctionNode>());
  }

  // Parameters are seen everywhere, as what a dataflow block keeps is not.
  static graph::GraphFunction WithPlainParams(const graph::GraphFunction& f) {
    graph::Substitution plain;
    for (const Var& param : f->params) {
      if (param->is_dataflow) {
        plain.vars[param.get()] = Var(param->name, param->info);
      }
    }
    const Expr e = graph::Substitute(f, plain);
    return graph::GraphFunction(e.As<graph::FunctionNode>());
  }

  Module out_;
  std::string top_;
  KnownDims* known_ = nullptr;  // of the function that is walked
  VarSet closures_;
  std::vector<Var> kept_;  // keeps the addresses in `closures_` taken
  std::unordered_map<const graph::VarNode*, bool> is_pure_;
};

}  // namespace

absl::StatusOr<Module> LambdaLift(const Module& module) {
  return Lifter(module).Run();
}

}  // namespace kiln
