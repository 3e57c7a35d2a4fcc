#include "kiln/ir/pattern/rewrite_call.h"

#include <optional>
#include <unordered_map>

#include "kiln/ir/graph/visit.h"

namespace kiln {
namespace {

// The blocks in which bindings stand, and those around them.
class Blocks {
 public:
  explicit Blocks(const graph::Expr& e) { Add(e, nullptr); }

  // Whether a value at the binding of `at` may use `e`.
  bool Sees(const graph::Var& at, const graph::Expr& e) const {
    bool sees = true;
    graph::Visit(e, [&](const graph::Expr& below) {
      const auto* var = below.As<graph::VarNode>();
      sees = sees && (!var || SeesVar(at, var));
      return sees;
    });
    return sees;
  }

 private:
  bool SeesVar(const graph::Var& at, const graph::VarNode* var) const {
    if (!var->is_dataflow || block_of_.count(var) == 0) return true;
    const auto place = block_of_.find(at.get());
    if (place == block_of_.end()) return true;
    const graph::BindingBlock* block = place->second;
    while (block && block != block_of_.at(var)) block = around_.at(block);
    return block != nullptr;
  }

  void Add(const graph::Expr& e, const graph::BindingBlock* around) {
    graph::Visit(e, [&](const graph::Expr& below) {
      const auto* seq = below.As<graph::SeqNode>();
      if (!seq) return true;
      for (const graph::BindingBlock& block : seq->blocks) {
        around_[&block] = around;
        for (const graph::Binding& binding : block.bindings) {
          block_of_[binding.var.get()] = &block;
          Add(binding.value, &block);
        }
      }
      Add(seq->result, around);
      return false;
    });
  }

  std::unordered_map<const graph::VarNode*, const graph::BindingBlock*>
      block_of_;
  std::unordered_map<const graph::BindingBlock*, const graph::BindingBlock*>
      around_;
};

}  // namespace

graph::Expr RewriteCall(const graph::Expr& e, const Pattern& pattern,
                        CallRule rule) {
  const Blocks blocks(e);
  BoundValues bound;
  return graph::RewriteBindings(
      e, [&](const graph::Binding& binding, graph::Emitter& emit) {
        const auto sees_all = [&](const Match& match) {
          for (const graph::Expr& matched : match.All()) {
            if (!blocks.Sees(binding.var, matched)) return false;
          }
          return true;
        };
        const std::optional<Match> match =
            pattern.Match(binding.value, bound, binding.var->info, sees_all);
        const graph::Expr value =
            match ? rule(binding.value, *match, emit) : graph::Expr();
        bound[binding.var.get()] = value ? value : binding.value;
        if (value) emit.Emit(binding.var, value);
        return static_cast<bool>(value);
      });
}

}  // namespace kiln
