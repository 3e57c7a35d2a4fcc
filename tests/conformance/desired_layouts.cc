#include "kiln/tests/conformance/desired_layouts.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/visit.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/layout/convert_layout.h"

namespace kiln {
namespace {

using OpLayouts = std::pair<std::string, std::vector<std::string>>;

// Of the convolutions, in order.
std::vector<OpLayouts> LayoutsIn(const Module& module) {
  std::vector<OpLayouts> found;
  const auto add = [&](const graph::Expr& e) {
    const auto* call = e.As<graph::CallNode>();
    const auto* op = call ? call->callee.As<graph::OpNode>() : nullptr;
    if (!op || !absl::StartsWith(op->name, "nn.conv")) return true;
    OpLayouts layouts{absl::StrCat("relax.", op->name), {}};
    for (const char* name : {"data_layout", "kernel_layout", "out_layout"}) {
      const auto attr = call->attrs.find(name);
      const bool is_known = attr != call->attrs.end() && attr->second.string();
      if (is_known) layouts.second.push_back(*attr->second.string());
    }
    found.push_back(std::move(layouts));
    return true;
  };
  for (const graph::GraphFunction& f : module.graph_functions) {
    graph::Visit(f->body, add);
  }
  return found;
}

}  // namespace

absl::StatusOr<Module> ConvertLayoutAsIn(const Module& before,
                                         const Module& after) {
  const std::vector<OpLayouts> given = LayoutsIn(before);
  const std::set<OpLayouts> known(given.begin(), given.end());
  DesiredLayouts desired;
  for (const OpLayouts& layouts : LayoutsIn(after)) {
    if (known.count(layouts) == 0) desired.insert(layouts);
  }
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(before));
  return ConvertLayout(inferred, desired);
}

}  // namespace kiln
