#include "kiln/ir/transform/graph/liftable.h"

#include <unordered_set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/functions.h"

namespace kiln {

using graph::Binding;
using graph::BindingBlock;
using GraphExpr = graph::Expr;
using GraphVar = graph::Var;

void AddDefined(const graph::StructInfo& info, ScalarSet& scalars) {
  for (const Var& var : graph::DefinedScalars(info)) scalars.insert(var.get());
}

bool StopsLifting(const GraphExpr& value) {
  const auto* call = value.As<graph::CallNode>();
  return call && call->IsOp("builtin.stop_lift_params");
}

namespace {

class LiftableFinder {
 public:
  LiftableFinder(const LiftCandidate& c, const Module& module)
      : module_(module) {
    for (const GraphVar& weight : c.Weights()) {
      known_.insert(weight.get());
      AddDefined(weight->info, scalars_);
    }
  }

  bool MayLift(const Binding& binding) {
    const GraphExpr& value = binding.value;
    const bool may = !StopsLifting(value) &&
                     value.kind() != graph::GraphKind::kFunction &&
                     value.kind() != graph::GraphKind::kMatchCast &&
                     IsPure(value, module_) && KnowsAll(binding);
    if (may) known_.insert(binding.var.get());
    return may;
  }

 private:
  bool KnowsAll(const Binding& binding) const {
    bool knows = true;
    UseCounts uses = CountUses(binding.value);
    AddShapeUses(binding.var->info, uses);
    for (const auto& [var, count] : uses) {
      knows = knows && known_.count(var) > 0;
    }
    const auto check = [&](const graph::Scalar& e) {
      for (const Var& var : FreeVars(e)) {
        knows = knows && scalars_.count(var.get()) > 0;
      }
    };
    graph::VisitScalars(binding.value, check);
    graph::VisitScalars(binding.var->info, check);
    return knows;
  }

  const Module& module_;
  std::unordered_set<const graph::VarNode*> known_;
  ScalarSet scalars_;
};

}  // namespace

void FindLiftable(const Module& module, LiftCandidate& c) {
  LiftableFinder finder(c, module);
  for (const BindingBlock& block : c.f->body.As<graph::SeqNode>()->blocks) {
    if (!block.is_dataflow) continue;
    for (const Binding& binding : block.bindings) {
      if (finder.MayLift(binding)) c.liftable.push_back(binding);
    }
  }
}

namespace {

// The value as text, variables under these names and constants by their
// digests.
std::string TextOf(const GraphExpr& value, const graph::Substitution& names) {
  std::string text = PrintGraphExpr(graph::Substitute(value, names));
  graph::Visit(value, [&](const GraphExpr& e) {
    const auto* constant = e.As<graph::ConstantNode>();
    if (!constant || !constant->is_known()) return true;
    const auto& digest = constant->data->digest();
    const absl::string_view bytes(reinterpret_cast<const char*>(digest.data()),
                                  digest.size());
    absl::StrAppend(&text, " ", absl::BytesToHexString(bytes));
    return true;
  });
  return text;
}

}  // namespace

void NumberValues(TextNumbers& numbers, LiftCandidate& c) {
  graph::Substitution names;
  const std::vector<GraphVar> weights = c.Weights();
  for (size_t i = 0; i < weights.size(); ++i) {
    names.vars[weights[i].get()] =
        GraphVar(absl::StrCat("w", i), graph::Object());
  }
  for (const Binding& binding : c.liftable) {
    const int next = static_cast<int>(numbers.size());
    const auto entry = numbers.emplace(TextOf(binding.value, names), next);
    const int number = entry.first->second;
    c.keys.push_back(number);
    names.vars[binding.var.get()] =
        GraphVar(absl::StrCat("v", number), graph::Object());
  }
}

}  // namespace kiln
