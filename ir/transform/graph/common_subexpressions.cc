// Values are compared by a key: their text, and who the variables in it are.
// What a branch computes is not known behind it, nor what a dataflow block
// keeps to itself behind the block:
//
//   A = R.add(x, y)
//   if c: B = R.add(x, y); ...      B is A
//   else: C = R.exp(x); ...
//   D = R.exp(x)                    D stays
#include "kiln/ir/transform/graph/common_subexpressions.h"

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {
namespace {

using graph::Expr;

void AddIdentity(const void* address, std::string& key) {
  absl::StrAppend(&key, "|", reinterpret_cast<uintptr_t>(address));
}

void AddConstant(const graph::ConstantNode& constant, std::string& key) {
  absl::StrAppend(&key, "|", constant.index);
  if (!constant.is_known()) return;
  const auto& digest = constant.data->digest();
  key.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

std::string KeyOf(const graph::Binding& binding) {
  std::string key = PrintGraphExpr(binding.value);
  graph::Visit(binding.value, [&](const Expr& e) {
    if (const auto* var = e.As<graph::VarNode>()) AddIdentity(var, key);
    if (const auto* constant = e.As<graph::ConstantNode>()) {
      AddConstant(*constant, key);
    }
    return true;
  });
  const auto add_scalar = [&](const graph::Scalar& e) {
    for (const kiln::Var& var : FreeVars(e)) AddIdentity(var.get(), key);
  };
  graph::VisitScalars(binding.value, add_scalar);
  absl::StrAppend(&key, ":", PrintStructInfo(binding.var->info));
  graph::VisitScalars(binding.var->info, add_scalar);
  return key;
}

// Memory is another one each time.
bool IsAllocation(const Expr& value) {
  const auto* call = value.As<graph::CallNode>();
  const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
  return op && absl::StrContains(op->name, "alloc");
}

class Eliminator {
 public:
  explicit Eliminator(const Module& module) : module_(module) {}

  Expr Map(const Expr& e) {
    if (const auto* var = e.As<graph::VarNode>()) {
      const auto found = replaced_.find(var);
      return found == replaced_.end() ? e : Expr(found->second);
    }
    if (const auto* seq = e.As<graph::SeqNode>()) return Seq(*seq);
    if (e.kind() == graph::GraphKind::kFunction) {
      const auto outside = std::exchange(known_, {});
      Expr mapped = MapBelow(e);
      known_ = outside;
      return mapped;
    }
    return MapBelow(e);
  }

 private:
  Expr MapBelow(const Expr& e) {
    return graph::MapOperands(e, [&](const Expr& below) { return Map(below); });
  }

  Expr Seq(const graph::SeqNode& seq) {
    const auto outside = known_;
    std::vector<graph::BindingBlock> blocks;
    for (const graph::BindingBlock& block : seq.blocks) {
      blocks.push_back({block.is_dataflow, {}});
      for (const graph::Binding& binding : block.bindings) {
        blocks.back().bindings.push_back(
            Bound({binding.var, Map(binding.value)}));
      }
      std::erase_if(
          known_, [](const auto& entry) { return entry.second->is_dataflow; });
    }
    Expr result = graph::Seq(std::move(blocks), Map(seq.result));
    known_ = outside;
    return result;
  }

  graph::Binding Bound(const graph::Binding& binding) {
    const graph::GraphKind kind = binding.value.kind();
    const bool is_candidate = kind == graph::GraphKind::kCall ||
                              kind == graph::GraphKind::kTuple ||
                              kind == graph::GraphKind::kTupleItem;
    if (!is_candidate || IsAllocation(binding.value) ||
        !IsPure(binding.value, module_)) {
      return binding;
    }
    const auto [entry, is_new] = known_.emplace(KeyOf(binding), binding.var);
    if (is_new) return binding;
    // A variable of a dataflow block is not known behind it.
    if (binding.var->is_dataflow || !entry->second->is_dataflow) {
      replaced_[binding.var.get()] = entry->second;
    }
    return {binding.var, entry->second};
  }

  const Module& module_;
  std::map<std::string, graph::Var> known_;
  std::unordered_map<const graph::VarNode*, graph::Var> replaced_;
};

}  // namespace

absl::StatusOr<Module> EliminateCommonSubexpressions(const Module& module) {
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    if (!f->body) continue;
    f = graph::WithBody(*f, Eliminator(module).Map(f->body));
  }
  return out;
}

}  // namespace kiln
