// First, dimensions that casts tell are resolved (cast_dims.h). Then three
// steps, until nothing changes:
//
// 1. What a dataflow block gives out and nobody outside uses becomes its own.
// 2. `y = x` goes, and y is x, where x is seen wherever y is.
// 3. Else `gv = lv` gives out what the block keeps: lv is called gv from where
//    it is bound; the next name for the same value falls to step 2.
#include "kiln/ir/transform/graph/canonicalize_bindings.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/cast_dims.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::Expr;
using graph::Var;

// Calls `visit` on every block of bindings.
void ForEachBlock(const Expr& e,
                  FunctionRef<void(const graph::BindingBlock&)> visit) {
  graph::Visit(e, [&](const Expr& below) {
    if (const auto* seq = below.As<graph::SeqNode>()) {
      for (const graph::BindingBlock& block : seq->blocks) visit(block);
    }
    return true;
  });
}

// Step 1.
Expr KeepInside(const Expr& f) {
  const UseCounts uses = CountUses(f);
  graph::Substitution renamed;
  ForEachBlock(f, [&](const graph::BindingBlock& block) {
    if (!block.is_dataflow) return;
    UseCounts inside;
    for (const Binding& binding : block.bindings) {
      for (const auto& [var, count] : CountUses(binding.value)) {
        inside[var] += count;
      }
      AddShapeUses(binding.var->info, inside);
    }
    for (const Binding& binding : block.bindings) {
      const auto all = uses.find(binding.var.get());
      const int count = all == uses.end() ? 0 : all->second;
      if (binding.var->is_dataflow || count > inside[binding.var.get()]) {
        continue;
      }
      renamed.vars[binding.var.get()] =
          Var(binding.var->name, binding.var->info, true);
    }
  });
  return renamed.is_empty() ? f : graph::Substitute(f, renamed);
}

// What `value` stands for, where it is but another name; null else.
class Names {
 public:
  Expr Meant(const Binding& binding) {
    if (const auto* tuple = binding.value.As<graph::TupleNode>()) {
      tuples_.emplace(binding.var.get(), Expr(tuple));
      return {};
    }
    if (binding.value.As<graph::VarNode>()) return binding.value;
    if (const auto* cast = binding.value.As<graph::MatchCastNode>()) {
      const graph::StructInfo info = graph::InfoOf(cast->value);
      Analyzer analyzer;
      const bool checks = !info || !graph::SameInfo(info, cast->info, analyzer);
      return checks ? Expr() : cast->value;
    }
    const auto* item = binding.value.As<graph::TupleItemNode>();
    const Expr field = item ? Field(*item) : Expr();
    const auto* inner = field.As<graph::TupleNode>();
    if (!inner) return field;
    // It keeps its name; its own fields are known.
    tuples_.emplace(binding.var.get(), field);
    return {};
  }

 private:
  Expr Field(const graph::TupleItemNode& item) const {
    const auto found = tuples_.find(item.tuple.As<graph::VarNode>());
    if (found == tuples_.end()) return {};
    const auto& fields = found->second.As<graph::TupleNode>()->fields;
    const auto index = static_cast<size_t>(item.index);
    return index < fields.size() ? fields[index] : Expr();
  }

  std::unordered_map<const graph::VarNode*, Expr> tuples_;
};

// Step 2. Constants keep their names.
Expr Resolved(const Expr& f, bool& changed) {
  Names names;
  return graph::RewriteBindings(
      f, [&](const Binding& binding, graph::Emitter& emit) {
        const Expr meant = names.Meant(binding);
        if (!meant) return false;
        const auto* target = meant.As<graph::VarNode>();
        const bool is_hidden =
            target && target->is_dataflow && !binding.var->is_dataflow;
        if (target && !is_hidden) {
          emit.Replace(binding.var, meant);
          changed = true;
          return true;
        }
        if (meant.get() == binding.value.get()) return false;
        emit.Emit(binding.var, meant);
        changed = true;
        return true;
      });
}

// Step 3.
Expr HandedOut(const Expr& f, bool& changed) {
  graph::Substitution renamed;
  ForEachBlock(f, [&](const graph::BindingBlock& block) {
    for (const Binding& binding : block.bindings) {
      const auto* target = binding.value.As<graph::VarNode>();
      const bool gives_out =
          target && target->is_dataflow && !binding.var->is_dataflow;
      if (gives_out) renamed.vars.emplace(target, binding.var);
    }
  });
  if (renamed.is_empty()) return f;
  changed = true;
  return graph::RewriteBindings(
      graph::Substitute(f, renamed), [](const Binding& binding, auto&) {
        return binding.value.get() == binding.var.get();
      });
}

// Calls over variables that stand for others are inferred again.
class Stale {
 public:
  void Add(const graph::VarNode* var) { targets_.insert(var); }

  Expr WithoutInfo(const Expr& e) const {
    return graph::RewriteBindings(
        e, [&](const Binding& binding, graph::Emitter& emit) {
          if (!binding.value.As<graph::CallNode>()) return false;
          if (!IsStale(binding.value)) return false;
          const Var var(binding.var->name, {}, binding.var->is_dataflow);
          emit.Emit(var, binding.value);
          emit.Replace(binding.var, var);
          return true;
        });
  }

 private:
  bool IsStale(const Expr& value) const {
    for (const auto& [var, count] : CountUses(value)) {
      if (!var->info || targets_.count(var) > 0) return true;
    }
    return false;
  }
  std::unordered_set<const graph::VarNode*> targets_;
};

// The variables that stand for others after step 2.
void AddTargets(const Expr& f, Stale& stale) {
  Names names;
  ForEachBlock(f, [&](const graph::BindingBlock& block) {
    for (const Binding& binding : block.bindings) {
      const Expr meant = names.Meant(binding);
      const auto* target = meant.As<graph::VarNode>();
      if (target) stale.Add(target);
    }
  });
}

}  // namespace

absl::StatusOr<Module> CanonicalizeBindings(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body) continue;
    KILN_ASSIGN_OR_RETURN(f, ResolveCastDims(f, module));
    graph::Expr e = f;
    Stale stale;
    for (bool changed = true; changed;) {
      changed = false;
      e = KeepInside(e);
      AddTargets(e, stale);
      e = Resolved(e, changed);
      e = HandedOut(e, changed);
    }
    e = stale.WithoutInfo(e);
    KILN_ASSIGN_OR_RETURN(f,
                          InferFunction(*e.As<graph::FunctionNode>(), module));
  }
  return out;
}

}  // namespace kiln
