// Callees first, so that each body is copied with nothing left to inline in it.
// A copy has variables of its own; parameters become the arguments, dimensions
// what the arguments tell of them:
//
//   y = f(x), x: R.Tensor((4,))      f(a: R.Tensor((n,))):
//                                        b: R.Tensor((n,)) = R.exp(a)
//   b1: R.Tensor((4,)) = R.exp(x)
//   y = b1
//
// An argument that may not fit is checked by a cast, as the call did. Outside
// of dataflow blocks, those of the body stay blocks of their own.
#include "kiln/ir/transform/graph/inline_functions.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using graph::Expr;
using graph::FunctionNode;

// Whether `f` leads to itself.
bool IsRecursive(const FunctionNode& f, const Module& module) {
  std::set<std::string> reached, open;
  AddNames(f.body, open);
  while (!open.empty()) {
    const std::string name = *open.begin();
    open.erase(open.begin());
    if (name == f.name) return true;
    const FunctionNode* callee = module.FindGraph(name);
    if (callee && reached.insert(name).second) AddNames(callee->body, open);
  }
  return false;
}

bool IsMarked(const FunctionNode& f) {
  return IsPrimitive(f) || f.attrs.count("Codegen") > 0 ||
         f.attrs.count("Composite") > 0;
}

bool HasBranch(const Expr& e) {
  bool has_branch = false;
  graph::Visit(e, [&](const Expr& below) {
    has_branch = has_branch || below.As<graph::IfNode>();
    return below.kind() != graph::GraphKind::kFunction;
  });
  return has_branch;
}

// A body without the function, and what has to be bound ahead of it.
struct Body {
  std::vector<Binding> casts;
  Expr seq;
};

// Dimensions that neither the parameters nor, by now, the arguments tell get
// variables of their own, so that a body can stand in a function twice.
void RenewScalars(const FunctionNode& f, VarMap& scalars) {
  graph::VisitScalars(f.body, [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) {
      if (scalars.count(var.get()) > 0) continue;
      scalars[var.get()] = Var(var.name(), var.dtype());
    }
  });
}

Body BodyFor(const FunctionNode& f, const std::vector<Expr>& args,
             bool is_dataflow) {
  const Expr fresh = graph::WithFreshVars(Expr(&f));
  const auto& callee = *fresh.As<FunctionNode>();
  graph::Substitution known;
  for (size_t i = 0; i < args.size(); ++i) {
    graph::Match(callee.params[i]->info, graph::InfoOf(args[i]), known);
  }
  RenewScalars(callee, known.scalars);
  Body body;
  Analyzer analyzer;
  for (size_t i = 0; i < args.size(); ++i) {
    const graph::Var& param = callee.params[i];
    const graph::StructInfo wanted = graph::Substitute(param->info, known);
    known.vars[param.get()] = args[i];
    const graph::StructInfo info = graph::InfoOf(args[i]);
    if (graph::Fits(info, wanted, analyzer) == graph::Fit::kAlways) continue;
    const graph::Var cast(param->name, wanted, is_dataflow);
    body.casts.push_back(
        {cast, Expr(new graph::MatchCastNode(args[i], wanted))});
    known.vars[param.get()] = cast;
  }
  body.seq = graph::Substitute(callee.body, known);
  return body;
}

// The body as bindings of a dataflow block.
Expr AsDataflow(const Expr& e) {
  graph::Substitution inner;
  const auto& seq = *e.As<graph::SeqNode>();
  for (const BindingBlock& block : seq.blocks) {
    for (const Binding& binding : block.bindings) {
      const graph::Var& var = binding.var;
      if (var->is_dataflow) continue;
      inner.vars[var.get()] = graph::Var(var->name, var->info, true);
    }
  }
  return graph::Substitute(e, inner);
}

class Inliner {
 public:
  explicit Inliner(const Module& module) : module_(module) {
    for (const graph::GraphFunction& f : module.graph_functions) {
      const bool may =
          f->is_private && f->body && !IsMarked(*f) && !IsRecursive(*f, module);
      if (may) names_.insert(f->name);
    }
  }

  // `f` with nothing left to inline.
  graph::GraphFunction Inlined(const FunctionNode& f) {
    const auto found = done_.find(f.name);
    if (found != done_.end()) return found->second;
    const graph::GraphFunction inlined =
        f.body ? graph::WithBody(f, Inside(f.body)) : graph::GraphFunction(&f);
    done_.emplace(f.name, inlined);
    return inlined;
  }

  bool MayInline(const std::string& name) const {
    return names_.count(name) > 0;
  }

 private:
  Expr Inside(const Expr& e) {
    const auto* seq = e.As<graph::SeqNode>();
    if (!seq) {
      return graph::MapOperands(
          e, [&](const Expr& operand) { return Inside(operand); });
    }
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      blocks.push_back({block.is_dataflow, {}});
      for (const Binding& binding : block.bindings) Add(binding, blocks);
    }
    std::erase_if(blocks, [](const BindingBlock& block) {
      return block.bindings.empty();
    });
    return graph::Seq(std::move(blocks), seq->result);
  }

  // The function that the value calls and that is to be inlined, or null.
  const FunctionNode* CalleeOf(const Expr& value) const {
    const auto* call = value.As<graph::CallNode>();
    const auto* global =
        call ? call->callee.As<graph::GlobalVarNode>() : nullptr;
    if (!global || !MayInline(global->name)) return nullptr;
    const FunctionNode* f = module_.FindGraph(global->name);
    return f->params.size() == call->args.size() ? f : nullptr;
  }

  void Add(const Binding& binding, std::vector<BindingBlock>& blocks) {
    const FunctionNode* f = CalleeOf(binding.value);
    const bool is_dataflow = blocks.back().is_dataflow;
    if (!f) {
      blocks.back().bindings.push_back({binding.var, Inside(binding.value)});
      return;
    }
    const graph::GraphFunction callee = Inlined(*f);
    if (is_dataflow && HasBranch(callee->body)) {
      blocks.back().bindings.push_back(binding);
      return;
    }
    const auto& args = binding.value.As<graph::CallNode>()->args;
    Body body = BodyFor(*callee, args, is_dataflow);
    if (is_dataflow) body.seq = AsDataflow(body.seq);
    Put(body, is_dataflow, blocks);
    blocks.back().bindings.push_back(
        {binding.var, body.seq.As<graph::SeqNode>()->result});
  }

  static void Put(const Body& body, bool is_dataflow,
                  std::vector<BindingBlock>& blocks) {
    auto& out = blocks.back().bindings;
    out.insert(out.end(), body.casts.begin(), body.casts.end());
    for (const BindingBlock& block : body.seq.As<graph::SeqNode>()->blocks) {
      if (!is_dataflow && block.is_dataflow != blocks.back().is_dataflow) {
        blocks.push_back({block.is_dataflow, {}});
      }
      auto& last = blocks.back().bindings;
      last.insert(last.end(), block.bindings.begin(), block.bindings.end());
    }
    if (blocks.back().is_dataflow != is_dataflow) blocks.push_back({false, {}});
  }

  const Module& module_;
  std::set<std::string> names_;
  std::map<std::string, graph::GraphFunction> done_;
};

}  // namespace

absl::StatusOr<Module> InlineFunctions(const Module& module) {
  Inliner inliner(module);
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) f = inliner.Inlined(*f);
  std::set<std::string> named;
  for (const graph::GraphFunction& f : out.graph_functions) {
    if (!inliner.MayInline(f->name)) AddNames(f, named);
  }
  // A function that stays because of one call may name others.
  for (size_t before = 0; before != named.size();) {
    before = named.size();
    for (const graph::GraphFunction& f : out.graph_functions) {
      if (named.count(f->name) > 0) AddNames(f, named);
    }
  }
  std::erase_if(out.graph_functions, [&](const graph::GraphFunction& f) {
    return inliner.MayInline(f->name) && named.count(f->name) == 0;
  });
  return InferModule(out);
}

}  // namespace kiln
