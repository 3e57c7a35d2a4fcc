// One dimension at a time: the first cast that tells one of its dimensions is
// looked for in order of evaluation, the rest of its sequence is rewritten, and
// struct info is inferred again, which may make the next cast tell one. Of
//
//   a = match_cast(x, (k,))          x: (n,)
//   b = exp(a)
//   c = match_cast(b, (m,))
//
// k becomes n, then m, of which b: (n,) tells now.
#include "kiln/ir/transform/graph/cast_dims.h"

#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/infer.h"

namespace kiln {
namespace {

using graph::Binding;
using graph::BindingBlock;
using graph::StructInfo;
using DimSet = std::set<const VarNode*>;

DimSet DimsOf(const StructInfo& info) {
  DimSet dims;
  graph::VisitScalars(info, [&](const graph::Scalar& e) {
    for (const Var& var : FreeVars(e)) dims.insert(var.get());
  });
  return dims;
}

// Those that numbers of the program are made of.
DimSet NumberDims(const graph::Expr& f) {
  DimSet dims;
  graph::Visit(f, [&](const graph::Expr& e) {
    const auto* number = e.As<graph::PrimNode>();
    if (!number) return true;
    for (const Var& var : FreeVars(number->value)) dims.insert(var.get());
    return true;
  });
  return dims;
}

// Where dimensions get their values: null for one that a parameter has, else
// the first cast that names it. Later casts that name it check it.
using Origins = std::unordered_map<const VarNode*, const graph::MatchCastNode*>;

Origins OriginsIn(const graph::Expr& f) {
  Origins origins;
  graph::Visit(f, [&](const graph::Expr& e) {
    if (const auto* function = e.As<graph::FunctionNode>()) {
      for (const graph::Var& param : function->params) {
        for (const VarNode* dim : DimsOf(param->info)) {
          origins.emplace(dim, nullptr);
        }
      }
    }
    const auto* cast = e.As<graph::MatchCastNode>();
    if (!cast) return true;
    for (const VarNode* dim : DimsOf(cast->info)) origins.emplace(dim, cast);
    return true;
  });
  return origins;
}

// The dimensions that the cast tells, as far as they are among `dims`, or are
// not where `is_in` is false.
graph::Substitution Told(const graph::MatchCastNode& cast,
                         const Origins& origins, const DimSet& dims,
                         bool is_in) {
  graph::Substitution matched, told;
  const StructInfo info = graph::InfoOf(cast.value);
  if (info) graph::Match(cast.info, info, matched);
  for (const auto& [dim, value] : matched.scalars) {
    const bool is_wanted = (dims.count(dim) > 0) == is_in;
    bool is_own = false;
    for (const Var& var : FreeVars(value)) is_own |= var.get() == dim;
    const auto origin = origins.find(dim);
    const bool is_new = origin != origins.end() && origin->second == &cast;
    if (is_wanted && is_new && !is_own) told.scalars.emplace(dim, value);
  }
  return told;
}

bool Mentions(const StructInfo& info, const graph::Substitution& told) {
  for (const VarNode* dim : DimsOf(info)) {
    if (told.scalars.count(dim) > 0) return true;
  }
  return false;
}

// A sequence in one block each, so that bindings can be counted.
struct Flat {
  struct Entry {
    bool is_dataflow;
    Binding binding;
  };
  std::vector<Entry> entries;
  graph::Expr result;
};

Flat Flattened(const graph::SeqNode& seq) {
  Flat flat{{}, seq.result};
  for (const BindingBlock& block : seq.blocks) {
    for (const Binding& binding : block.bindings) {
      flat.entries.push_back({block.is_dataflow, binding});
    }
  }
  return flat;
}

// `seq` with the bindings from place `from` on, and its result, as `map` makes
// them of a sequence of those.
graph::Expr WithRest(const graph::SeqNode& seq, size_t from,
                     FunctionRef<graph::Expr(const graph::Expr&)> map) {
  std::vector<BindingBlock> ahead, rest;
  size_t at = 0;
  for (const BindingBlock& block : seq.blocks) {
    BindingBlock first{block.is_dataflow, {}}, second{block.is_dataflow, {}};
    for (const Binding& binding : block.bindings) {
      (at++ < from ? first : second).bindings.push_back(binding);
    }
    if (!first.bindings.empty()) ahead.push_back(std::move(first));
    if (!second.bindings.empty()) rest.push_back(std::move(second));
  }
  const graph::Expr changed = map(graph::Seq(std::move(rest), seq.result));
  const auto& tail = *changed.As<graph::SeqNode>();
  // A dataflow block that was cut in two is one again.
  auto next = tail.blocks.begin();
  if (!ahead.empty() && next != tail.blocks.end() && ahead.back().is_dataflow &&
      next->is_dataflow &&
      seq.blocks.size() < ahead.size() + tail.blocks.size()) {
    auto& bindings = ahead.back().bindings;
    bindings.insert(bindings.end(), next->bindings.begin(),
                    next->bindings.end());
    ++next;
  }
  ahead.insert(ahead.end(), next, tail.blocks.end());
  return graph::Seq(std::move(ahead), tail.result);
}

class Resolver {
 public:
  explicit Resolver(const graph::Expr& f)
      : number_dims_(NumberDims(f)), origins_(OriginsIn(f)) {}

  // One step; the same expression where there is none.
  graph::Expr Resolve(const graph::Expr& e) { return Walk(e, false, false); }
  // What the struct info of bindings can say of dimensions of numbers.
  graph::Expr Narrow(const graph::Expr& e) { return Walk(e, true, false); }

 private:
  graph::Expr Walk(const graph::Expr& e, bool narrows, bool is_branch) {
    const auto* branch = e.As<graph::IfNode>();
    const auto* seq = e.As<graph::SeqNode>();
    if (!seq) {
      return graph::MapOperands(e, [&](const graph::Expr& operand) {
        if (is_done_ && !narrows) return operand;
        return Walk(operand, narrows, branch != nullptr);
      });
    }
    const graph::Expr inside = Inside(*seq, narrows);
    if (is_done_ && !narrows) return inside;
    return Here(*inside.As<graph::SeqNode>(), narrows, is_branch);
  }

  // Sequences inside of this one; what a branch gives is cast back.
  graph::Expr Inside(const graph::SeqNode& seq, bool narrows) {
    std::vector<BindingBlock> blocks = seq.blocks;
    bool changed = false;
    for (BindingBlock& block : blocks) {
      for (Binding& binding : block.bindings) {
        if (is_done_ && !narrows) break;
        told_ = {};
        graph::Expr value = Walk(binding.value, narrows, false);
        if (value.get() == binding.value.get()) continue;
        const auto* branch = value.As<graph::IfNode>();
        const auto* before = binding.value.As<graph::IfNode>();
        if (branch && Mentions(binding.var->info, told_)) {
          value = CastBack(*branch, *before, binding.var->info);
        }
        binding.value = std::move(value);
        changed = true;
      }
    }
    if (!changed) return graph::Expr(&seq);
    return graph::Expr(new graph::SeqNode(std::move(blocks), seq.result));
  }

  static graph::Expr CastBack(const graph::IfNode& branch,
                              const graph::IfNode& before,
                              const StructInfo& info) {
    const auto cast = [&](const graph::Expr& body, const graph::Expr& old,
                          const char* name) {
      if (body.get() == old.get()) return body;
      const auto& seq = *body.As<graph::SeqNode>();
      const graph::Var var(name, info);
      std::vector<BindingBlock> blocks = seq.blocks;
      blocks.push_back(
          {false,
           {{var, graph::Expr(new graph::MatchCastNode(seq.result, info))}}});
      return graph::Seq(std::move(blocks), var);
    };
    return graph::Expr(new graph::IfNode(
        branch.condition,
        cast(branch.then_body, before.then_body, "then_branch_with_dyn"),
        cast(branch.else_body, before.else_body, "else_branch_with_dyn")));
  }

  graph::Expr Here(const graph::SeqNode& seq, bool narrows, bool is_branch) {
    const Flat flat = Flattened(seq);
    for (size_t i = 0; i < flat.entries.size(); ++i) {
      const Binding& binding = flat.entries[i].binding;
      const auto* cast = binding.value.As<graph::MatchCastNode>();
      if (!cast) continue;
      if (is_branch && IsResult(flat, i)) continue;
      const graph::Substitution told =
          Told(*cast, origins_, number_dims_, narrows);
      if (told.scalars.empty()) continue;
      const graph::Expr changed =
          narrows ? WithRest(seq, i + 1,
                             [&](const graph::Expr& rest) {
                               return Narrowed(rest, told);
                             })
                  : WithRest(seq, i, [&](const graph::Expr& rest) {
                      return graph::Substitute(WithoutInfoOf(rest, told), told);
                    });
      is_done_ = true;
      for (const auto& [dim, value] : told.scalars) {
        told_.scalars.emplace(dim, value);
      }
      return changed;
    }
    return graph::Expr(&seq);
  }

  // Whether nothing but other names follows.
  static bool IsResult(const Flat& flat, size_t place) {
    for (size_t i = place + 1; i < flat.entries.size(); ++i) {
      if (!flat.entries[i].binding.value.As<graph::VarNode>()) return false;
    }
    return flat.result.As<graph::VarNode>() != nullptr;
  }

  // Calls whose struct info mentions what is told get the one that `renewed`
  // makes of it; null is inferred anew.
  static graph::Expr WithInfoOf(
      const graph::Expr& rest, const graph::Substitution& told,
      FunctionRef<StructInfo(const StructInfo&)> renewed) {
    return graph::RewriteBindings(
        rest, [&](const Binding& binding, graph::Emitter& emit) {
          const bool is_call = binding.value.As<graph::CallNode>() &&
                               Mentions(binding.var->info, told);
          if (!is_call) return false;
          const graph::Var var(binding.var->name, renewed(binding.var->info),
                               binding.var->is_dataflow);
          emit.Emit(var, binding.value);
          emit.Replace(binding.var, var);
          return true;
        });
  }

  static graph::Expr WithoutInfoOf(const graph::Expr& rest,
                                   const graph::Substitution& told) {
    return WithInfoOf(rest, told,
                      [](const StructInfo&) { return StructInfo(); });
  }

  // Calls are annotated with what is known.
  static graph::Expr Narrowed(const graph::Expr& rest,
                              const graph::Substitution& told) {
    return WithInfoOf(rest, told, [&](const StructInfo& info) {
      return graph::Substitute(info, told);
    });
  }

  const DimSet number_dims_;
  const Origins origins_;
  bool is_done_ = false;
  graph::Substitution told_;  // inside of the binding that is walked
};

}  // namespace

absl::StatusOr<graph::GraphFunction> ResolveCastDims(
    const graph::GraphFunction& f, const Module& module) {
  graph::GraphFunction out = f;
  // Takes `e` for the function; false where it is that already, or where a call
  // never fits with what the cast tells, which may be one that never runs.
  const auto take = [&](const graph::Expr& e) -> absl::StatusOr<bool> {
    if (e.get() == out.get()) return false;
    absl::StatusOr<graph::GraphFunction> told =
        InferFunction(*e.As<graph::FunctionNode>(), module);
    if (absl::IsInvalidArgument(told.status())) return false;
    KILN_ASSIGN_OR_RETURN(out, std::move(told));
    return true;
  };
  // Each step settles one cast; a program of more of them keeps the rest.
  constexpr int kMostSteps = 1000;
  for (int step = 0; step < kMostSteps; ++step) {
    KILN_ASSIGN_OR_RETURN(const bool is_told, take(Resolver(out).Resolve(out)));
    if (!is_told) break;
  }
  KILN_RETURN_IF_ERROR(take(Resolver(out).Narrow(out)).status());
  return out;
}

}  // namespace kiln
