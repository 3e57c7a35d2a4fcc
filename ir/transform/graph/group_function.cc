// Of bindings that stand in another function,
//
//   lv = R.add(x, w); gv = R.exp(lv)
//
// what they need becomes parameters, x and w, in order of first use, and
// dimensions that those do not tell a shape behind them. All variables are
// renewed, so that the function shares nothing with the one it comes from.
#include "kiln/ir/transform/graph/group_function.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"

namespace kiln {
namespace {

using graph::Expr;
using graph::Var;

class Maker {
 public:
  explicit Maker(bool lifts_constants) : lifts_constants_(lifts_constants) {}

  GroupFunction Make(std::string name,
                     const std::vector<graph::Binding>& bindings) {
    std::vector<graph::Binding> body = ClosedBody(bindings);
    const Var result("gv", bindings.back().var->info);
    body.back().var = result;
    return Finish(std::move(name), {true, std::move(body)}, result);
  }

  GroupFunction Make(std::string name,
                     const std::vector<graph::Binding>& bindings,
                     const Expr& result) {
    return Finish(std::move(name), {false, ClosedBody(bindings)}, result);
  }

 private:
  std::vector<graph::Binding> ClosedBody(
      const std::vector<graph::Binding>& bindings) {
    for (const graph::Binding& binding : bindings) {
      inner_.insert(binding.var.get());
    }
    std::vector<graph::Binding> body;
    for (const graph::Binding& binding : bindings) {
      body.push_back({binding.var, Closed(binding.value)});
    }
    return body;
  }

  GroupFunction Finish(std::string name, graph::BindingBlock block,
                       const Expr& result) {
    AddDims(block.bindings);
    graph::FunctionFields fields;
    fields.name = std::move(name);
    fields.params = std::move(params_);
    fields.result = graph::InfoOf(result);
    fields.is_private = true;
    fields.body = WithPlainVars(graph::Seq({std::move(block)}, result));
    return {WithOwnDims(
                graph::WithFreshVars(graph::GraphFunction(std::move(fields)))),
            std::move(args_)};
  }

  // Bindings that are in no dataflow block bind no variables of one.
  static Expr WithPlainVars(const Expr& body) {
    std::vector<graph::BindingBlock> blocks = body.As<graph::SeqNode>()->blocks;
    graph::Substitution plain;
    for (graph::BindingBlock& block : blocks) {
      for (graph::Binding& binding : block.bindings) {
        if (block.is_dataflow || !binding.var->is_dataflow) continue;
        const Var var(binding.var->name, binding.var->info);
        plain.vars[binding.var.get()] = var;
        binding.var = var;
      }
    }
    const Expr result = body.As<graph::SeqNode>()->result;
    return graph::Substitute(graph::Seq(std::move(blocks), result), plain);
  }

  // `value` over parameters.
  Expr Closed(const Expr& value) {
    return graph::Rewrite(value, [&](const Expr& e) {
      if (e.kind() == graph::GraphKind::kFunction) return e;
      const auto* var = e.As<graph::VarNode>();
      if (var) return inner_.count(var) > 0 ? e : ParamFor(*var);
      const bool is_lifted =
          lifts_constants_ && e.kind() == graph::GraphKind::kConstant;
      return is_lifted ? Lifted(e) : Expr();
    });
  }

  Expr ParamFor(const graph::VarNode& var) {
    Var& param = taken_[&var];
    if (!param) {
      param = Var(var.name, var.info);
      params_.push_back(param);
      args_.emplace_back(&var);
    }
    return param;
  }

  Expr Lifted(const Expr& constant) {
    const Var param(absl::StrCat("param_", num_lifted_++),
                    graph::InfoOf(constant));
    params_.push_back(param);
    args_.push_back(constant);
    return param;
  }

  void AddDims(const std::vector<graph::Binding>& body) {
    std::set<const kiln::VarNode*> known;
    for (const Var& param : params_) {
      for (const kiln::Var& var : graph::DefinedScalars(param->info)) {
        known.insert(var.get());
      }
    }
    std::vector<graph::Scalar> missing;
    const auto add = [&](const graph::Scalar& e) {
      for (const kiln::Var& var : FreeVars(e)) {
        if (known.insert(var.get()).second) missing.push_back(var);
      }
    };
    for (const Var& param : params_) graph::VisitScalars(param->info, add);
    for (const graph::Binding& binding : body) {
      // Dimensions of a local function are its own.
      if (binding.value.As<graph::FunctionNode>()) continue;
      graph::VisitScalars(binding.value, add);
      graph::VisitScalars(binding.var->info, add);
    }
    if (missing.empty()) return;
    params_.emplace_back("tir_vars", graph::Shape(missing));
    args_.push_back(graph::ShapeOf(missing));
  }

  const bool lifts_constants_;
  std::set<const graph::VarNode*> inner_;
  std::map<const graph::VarNode*, Var> taken_;
  std::vector<Var> params_;
  std::vector<Expr> args_;
  int num_lifted_ = 0;
};

}  // namespace

graph::GraphFunction WithOwnDims(const graph::Expr& f) {
  graph::Substitution own;
  graph::VisitScalars(f, [&](const graph::Scalar& e) {
    for (const kiln::Var& var : FreeVars(e)) {
      if (own.scalars.count(var.get()) > 0) continue;
      own.scalars[var.get()] = kiln::Var(var.name(), var.dtype());
    }
  });
  const graph::Expr renewed = graph::Substitute(f, own);
  return graph::GraphFunction(renewed.As<graph::FunctionNode>());
}

GroupFunction MakeGroupFunction(std::string name,
                                const std::vector<graph::Binding>& bindings,
                                bool lifts_constants) {
  return Maker(lifts_constants).Make(std::move(name), bindings);
}

GroupFunction MakeGroupFunction(std::string name,
                                const std::vector<graph::Binding>& bindings,
                                const graph::Expr& result,
                                bool lifts_constants) {
  return Maker(lifts_constants).Make(std::move(name), bindings, result);
}

}  // namespace kiln
