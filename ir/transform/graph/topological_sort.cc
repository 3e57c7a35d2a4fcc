#include "kiln/ir/transform/graph/topological_sort.h"

#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Expr;

class BlockSorter {
 public:
  BlockSorter(const graph::BindingBlock& block,
              const std::vector<graph::Var>& params)
      : block_(block) {
    for (const graph::Var& param : params) inputs_.push_back(param.get());
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      own_[block.bindings[i].var.get()] = i;
      AddDefined(block.bindings[i]);
    }
    missing_.resize(block.bindings.size());
    for (size_t i = 0; i < block.bindings.size(); ++i) AddNeeds(i);
  }

  graph::BindingBlock Run(SortOrder order) {
    graph::BindingBlock out{true, {}};
    std::deque<size_t> open;
    const auto finish = [&](const graph::VarNode* var) {
      std::vector<size_t> ready;
      for (const size_t user : users_[var]) {
        if (--missing_[user] == 0) ready.push_back(user);
      }
      // The first user comes first in either order.
      if (order == SortOrder::kDepthFirst) {
        open.insert(open.begin(), ready.begin(), ready.end());
      } else {
        open.insert(open.end(), ready.begin(), ready.end());
      }
    };
    const auto drain = [&] {
      while (!open.empty()) {
        const graph::Binding& next = block_.bindings[open.front()];
        open.pop_front();
        out.bindings.push_back(next);
        finish(next.var.get());
      }
    };
    for (size_t i = 0; i < missing_.size(); ++i) {
      if (missing_[i] == 0) open.push_back(i);
    }
    for (const graph::VarNode* input : inputs_) {
      if (order == SortOrder::kDepthFirst) drain();
      finish(input);
    }
    drain();
    return out;
  }

 private:
  // The dimensions that a cast is the first to name.
  void AddDefined(const graph::Binding& binding) {
    const auto* cast = binding.value.As<graph::MatchCastNode>();
    if (!cast) return;
    for (const kiln::Var& dim : graph::DefinedScalars(cast->info)) {
      definition_.try_emplace(dim.get(), binding.var.get());
    }
  }

  // Binding `i` stands behind the casts that name its dimensions.
  void AddCasts(size_t i, UseCounts& needs) {
    const graph::Binding& binding = block_.bindings[i];
    const auto add = [&](const graph::Scalar& e) {
      for (const kiln::Var& dim : FreeVars(e)) {
        const auto cast = definition_.find(dim.get());
        if (cast == definition_.end()) continue;
        if (own_.at(cast->second) < i) ++needs[cast->second];
      }
    };
    graph::VisitScalars(binding.value, add);
    graph::VisitScalars(binding.var->info, add);
  }

  void AddNeeds(size_t i) {
    UseCounts needs = CountUses(block_.bindings[i].value);
    AddShapeUses(block_.bindings[i].var->info, needs);
    AddCasts(i, needs);
    for (const auto& [var, count] : needs) {
      auto [users, is_new] = users_.try_emplace(var);
      users->second.push_back(i);
      ++missing_[i];
      const bool is_input = own_.count(var) == 0;
      bool is_listed = false;
      for (const graph::VarNode* input : inputs_) {
        is_listed = is_listed || input == var;
      }
      if (is_input && !is_listed) inputs_.push_back(var);
    }
  }

  const graph::BindingBlock& block_;
  std::vector<const graph::VarNode*> inputs_;
  std::unordered_map<const graph::VarNode*, size_t> own_;
  std::unordered_map<const VarNode*, const graph::VarNode*> definition_;
  std::unordered_map<const graph::VarNode*, std::vector<size_t>> users_;
  std::vector<int> missing_;
};

Expr Sorted(const Expr& e, const std::vector<graph::Var>& params,
            SortOrder order) {
  const auto* f = e.As<graph::FunctionNode>();
  const Expr below = graph::MapOperands(e, [&](const Expr& operand) {
    return Sorted(operand, f ? f->params : params, order);
  });
  const auto* seq = below.As<graph::SeqNode>();
  if (!seq) return below;
  std::vector<graph::BindingBlock> blocks = seq->blocks;
  for (graph::BindingBlock& block : blocks) {
    if (block.is_dataflow) block = BlockSorter(block, params).Run(order);
  }
  return graph::Seq(std::move(blocks), seq->result);
}

}  // namespace

absl::StatusOr<Module> TopologicalSort(const Module& module, SortOrder order) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr sorted = Sorted(f, {}, order);
    f = graph::GraphFunction(sorted.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
