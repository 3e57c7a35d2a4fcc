#include "kiln/tools/support/stated_difference.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"

namespace kiln {
namespace {

using graph::ConstantNode;

// What stands for each index whose bytes are left out; null: several do.
using Found = std::map<int64_t, graph::Expr>;

std::vector<graph::Expr> ConstantsOf(const graph::FunctionNode& f) {
  std::vector<graph::Expr> constants;
  graph::Visit(graph::Expr(&f), [&](const graph::Expr& e) {
    if (e.As<ConstantNode>()) constants.push_back(e);
    return true;
  });
  return constants;
}

bool AreSame(const ConstantNode& a, const ConstantNode& b) {
  return a.dtype == b.dtype && a.shape == b.shape &&
         a.data->bytes() == b.data->bytes();
}

// Notes what stands in `other` where `f` leaves bytes out.
void Note(const graph::FunctionNode& f, const graph::FunctionNode& other,
          Found& found) {
  const std::vector<graph::Expr> left = ConstantsOf(f);
  const std::vector<graph::Expr> right = ConstantsOf(other);
  if (left.size() != right.size()) return;
  for (size_t i = 0; i < left.size(); ++i) {
    const auto* omitted = left[i].As<ConstantNode>();
    const auto* known = right[i].As<ConstantNode>();
    if (omitted->is_known() || !known->is_known()) continue;
    const auto [entry, is_new] = found.emplace(omitted->index, right[i]);
    if (is_new || !entry->second) continue;
    const auto* before = entry->second.As<ConstantNode>();
    if (!AreSame(*before, *known)) entry->second = graph::Expr();
  }
}

Module Filled(Module module, const Found& found) {
  for (graph::GraphFunction& f : module.graph_functions) {
    const graph::Expr filled = graph::Rewrite(f, [&](const graph::Expr& e) {
      const auto* constant = e.As<ConstantNode>();
      if (!constant || constant->is_known()) return graph::Expr();
      const auto entry = found.find(constant->index);
      return entry == found.end() ? graph::Expr() : entry->second;
    });
    f = graph::GraphFunction(filled.As<graph::FunctionNode>());
  }
  return module;
}

// `module` with the constants that stand in `other` in the places of those
// whose bytes it leaves out.
Module WithConstantsOf(const Module& other, const Module& module) {
  Found found;
  const auto& functions = module.graph_functions;
  for (size_t i = 0; i < functions.size(); ++i) {
    const graph::FunctionNode* g = other.FindGraph(functions[i]->name);
    if (!g && i < other.graph_functions.size()) {
      g = other.graph_functions[i].get();
    }
    if (g) Note(*functions[i], *g, found);
  }
  return Filled(module, found);
}

Module InferredIfCan(Module module) {
  absl::StatusOr<Module> inferred = InferModule(module);
  return inferred.ok() ? *std::move(inferred) : std::move(module);
}

}  // namespace

std::optional<std::string> StatedDifference(const Module& a, const Module& b) {
  if (!FirstDifference(a, b)) return std::nullopt;
  return FirstDifference(InferredIfCan(WithConstantsOf(b, a)),
                         InferredIfCan(WithConstantsOf(a, b)));
}

}  // namespace kiln
