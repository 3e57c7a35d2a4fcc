#include "kiln/ir/pattern/order_bindings.h"

#include <unordered_map>
#include <utility>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/pattern/uses.h"

namespace kiln {
namespace {

class Order {
 public:
  Order(const std::vector<graph::Binding>& bindings,
        const std::function<bool(const VarNode*)>& is_known)
      : bindings_(bindings), states_(bindings.size(), State::kNew) {
    std::unordered_map<const VarNode*, size_t> dims;
    for (size_t i = 0; i < bindings.size(); ++i) {
      index_[bindings[i].var.get()] = i;
      AddCast(i, is_known);
    }
  }

  std::optional<std::vector<graph::Binding>> Run() {
    for (size_t i = 0; i < bindings_.size(); ++i) {
      if (!Place(i)) return std::nullopt;
    }
    return std::move(ordered_);
  }

 private:
  enum class State { kNew, kOpen, kPlaced };

  // Dimensions that a binding ahead of the cast speaks of come in elsewhere.
  void AddCast(size_t i, const std::function<bool(const VarNode*)>& is_known) {
    if (const auto* cast = bindings_[i].value.As<graph::MatchCastNode>()) {
      for (const Var& dim : graph::DefinedScalars(cast->info)) {
        const bool is_new =
            !is_known(dim.get()) && spoken_of_.count(dim.get()) == 0;
        if (is_new) cast_of_.emplace(dim.get(), i);
      }
    }
    for (const Var& dim : DimsOf(bindings_[i])) spoken_of_[dim.get()] = i;
  }

  static std::vector<Var> DimsOf(const graph::Binding& binding) {
    std::vector<Var> dims;
    const auto add = [&](const graph::Scalar& e) {
      for (const Var& var : FreeVars(e)) dims.push_back(var);
    };
    graph::VisitScalars(binding.value, add);
    graph::VisitScalars(binding.var->info, add);
    return dims;
  }

  std::vector<size_t> NeedsOf(const graph::Binding& binding) const {
    std::vector<size_t> needs;
    std::vector<const graph::VarNode*> vars = UsedVars(binding.value);
    for (const auto* var : ShapeVars(binding.var->info)) vars.push_back(var);
    for (const graph::VarNode* var : vars) {
      const auto found = index_.find(var);
      // A function may call itself.
      const bool is_other =
          var != binding.var.get() || !binding.value.As<graph::FunctionNode>();
      if (found != index_.end() && is_other) needs.push_back(found->second);
    }
    for (const Var& dim : DimsOf(binding)) {
      const auto found = cast_of_.find(dim.get());
      const bool is_own =
          found != cast_of_.end() && &bindings_[found->second] == &binding;
      if (found != cast_of_.end() && !is_own) needs.push_back(found->second);
    }
    return needs;
  }

  // A binding whose needs are placed one by one. As many may be open at once as
  // there are bindings, so they stand on a stack of their own.
  struct Open {
    size_t binding;
    std::vector<size_t> needs;
    size_t placed = 0;
  };

  bool Place(size_t first) {
    if (states_[first] == State::kPlaced) return true;
    std::vector<Open> open;
    OpenUp(first, open);
    while (!open.empty()) {
      Open& top = open.back();
      if (top.placed == top.needs.size()) {
        states_[top.binding] = State::kPlaced;
        ordered_.push_back(bindings_[top.binding]);
        open.pop_back();
        continue;
      }
      const size_t need = top.needs[top.placed++];
      if (states_[need] == State::kOpen) return false;
      if (states_[need] == State::kNew) OpenUp(need, open);
    }
    return true;
  }

  void OpenUp(size_t i, std::vector<Open>& open) {
    states_[i] = State::kOpen;
    open.push_back({i, NeedsOf(bindings_[i])});
  }

  const std::vector<graph::Binding>& bindings_;
  std::vector<State> states_;
  std::unordered_map<const graph::VarNode*, size_t> index_;
  std::unordered_map<const VarNode*, size_t> cast_of_, spoken_of_;
  std::vector<graph::Binding> ordered_;
};

}  // namespace

std::optional<std::vector<graph::Binding>> OrderBindings(
    const std::vector<graph::Binding>& bindings,
    const std::function<bool(const VarNode*)>& is_known) {
  return Order(bindings, is_known).Run();
}

}  // namespace kiln
