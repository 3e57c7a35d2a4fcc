#include "kiln/ir/transform/graph/composite.h"

#include <utility>
#include <vector>

#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/functions.h"
#include "kiln/ir/transform/graph/group_function.h"

namespace kiln {

std::string StringAttr(const graph::FunctionNode& f, const char* name) {
  const auto found = f.attrs.find(name);
  const std::string* text =
      found == f.attrs.end() ? nullptr : found->second.string();
  return text ? *text : "";
}

std::string LibraryOf(const graph::FunctionNode* f) {
  if (!f) return "";
  const std::string name = StringAttr(*f, kCompositeAttr);
  return name.substr(0, name.find('.'));
}

graph::Binding LocalComposite(const graph::FunctionNode& composite) {
  graph::FunctionFields fields =
      WithOwnDims(graph::WithFreshVars(graph::Expr(&composite)))->fields();
  fields.name = "local_func";
  fields.is_private = false;
  fields.attrs = {{kCompositeAttr, StringAttr(composite, kCompositeAttr)}};
  const graph::GraphFunction local(std::move(fields));
  return {graph::Var("local_func", graph::SignatureOf(*local)), local};
}

void DropUnnamed(const std::set<std::string>& functions, Module& module) {
  std::set<std::string> named;
  for (const graph::GraphFunction& f : module.graph_functions) {
    AddNames(f, named);
  }
  std::vector<graph::GraphFunction> kept;
  for (const graph::GraphFunction& f : module.graph_functions) {
    const bool is_dropped =
        functions.count(f->name) > 0 && !named.count(f->name);
    if (!is_dropped) kept.push_back(f);
  }
  module.graph_functions = std::move(kept);
}

}  // namespace kiln
