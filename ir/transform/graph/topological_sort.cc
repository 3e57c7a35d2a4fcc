// A binding needs the variables in its value and in its type, and the cast that
// is the first to name a dimension in them. From the inputs on, it is open once
// nothing that it needs is missing. From the outputs back, of
//
//   a = exp(x); b = exp(y); c = add(b, a); d = log(x)
//
// nothing uses d and c, in this order. Depth first gives d, b, a, c. Breadth
// first, the distances are 0 for d and c and 1 for b and a; from the farthest
// on, and each distance from its end: a, b, c, d.
#include "kiln/ir/transform/graph/topological_sort.h"

#include <algorithm>
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
    switch (order) {
      case SortOrder::kDepthFirst:
      case SortOrder::kBreadthFirst:
        return FromInputs(order);
      case SortOrder::kDepthFirstFromOutputs:
        return InOrder(DepthFirst());
      case SortOrder::kBreadthFirstFromOutputs:
        return InOrder(BreadthFirst());
    }
  }

 private:
  graph::BindingBlock InOrder(const std::vector<size_t>& order) const {
    graph::BindingBlock out{true, {}};
    for (const size_t i : order) out.bindings.push_back(block_.bindings[i]);
    return out;
  }

  // Those that nothing in the block uses, the last one first.
  std::vector<size_t> Outputs() const {
    std::vector<size_t> outputs;
    for (size_t i = needs_.size(); i-- > 0;) {
      if (users_.count(block_.bindings[i].var.get()) == 0) outputs.push_back(i);
    }
    return outputs;
  }

  std::vector<size_t> DepthFirst() const {
    std::vector<size_t> order;
    std::vector<bool> is_placed(needs_.size());
    std::vector<size_t> open = Outputs();
    std::reverse(open.begin(), open.end());
    while (!open.empty()) {
      const size_t i = open.back();
      const auto missing =
          std::find_if(needs_[i].begin(), needs_[i].end(),
                       [&](size_t need) { return !is_placed[need]; });
      if (missing != needs_[i].end() && !is_placed[i]) {
        open.push_back(*missing);
        continue;
      }
      open.pop_back();
      if (!is_placed[i]) order.push_back(i);
      is_placed[i] = true;
    }
    return order;
  }

  std::vector<size_t> BreadthFirst() const {
    // Users stand behind what they use.
    std::vector<size_t> distance(needs_.size());
    for (size_t i = needs_.size(); i-- > 0;) {
      for (const size_t need : needs_[i]) {
        distance[need] = std::max(distance[need], distance[i] + 1);
      }
    }
    std::vector<size_t> order;
    std::vector<size_t> level = Outputs();
    for (size_t d = 1; !level.empty(); ++d) {
      order.insert(order.end(), level.begin(), level.end());
      std::vector<size_t> next;
      for (const size_t i : level) {
        for (const size_t need : needs_[i]) {
          if (distance[need] != d) continue;
          std::erase(next, need);
          next.push_back(need);
        }
      }
      level = std::move(next);
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  graph::BindingBlock FromInputs(SortOrder order) {
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
    std::vector<size_t> without_inputs;
    for (size_t i = 0; i < missing_.size(); ++i) {
      if (missing_[i] == 0) without_inputs.push_back(i);
    }
    if (order == SortOrder::kBreadthFirst) {
      open.assign(without_inputs.begin(), without_inputs.end());
      without_inputs.clear();
    }
    for (const graph::VarNode* input : inputs_) {
      if (order == SortOrder::kDepthFirst) drain();
      finish(input);
    }
    drain();
    for (const size_t i : without_inputs) {
      open.push_back(i);
      drain();
    }
    return out;
  }

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

  // What binding `i` needs of the block, in the order of its operands.
  void AddOperands(size_t i, const UseCounts& needs) {
    std::vector<size_t>& operands = needs_.emplace_back();
    const auto add = [&](const graph::VarNode* var) {
      const auto own = own_.find(var);
      const bool is_new =
          own != own_.end() && std::find(operands.begin(), operands.end(),
                                         own->second) == operands.end();
      if (is_new) operands.push_back(own->second);
    };
    graph::Visit(block_.bindings[i].value, [&](const graph::Expr& e) {
      if (e.As<graph::VarNode>()) add(e.As<graph::VarNode>());
      return true;
    });
    // Those of types have no order of their own.
    std::vector<size_t> others;
    for (const auto& [var, count] : needs) {
      const auto own = own_.find(var);
      if (own != own_.end()) others.push_back(own->second);
    }
    std::sort(others.begin(), others.end());
    for (const size_t other : others) add(block_.bindings[other].var.get());
  }

  void AddNeeds(size_t i) {
    UseCounts needs = CountUses(block_.bindings[i].value);
    AddShapeUses(block_.bindings[i].var->info, needs);
    AddCasts(i, needs);
    AddOperands(i, needs);
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
  std::vector<std::vector<size_t>> needs_;
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
