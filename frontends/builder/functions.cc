#include "kiln/frontends/builder/functions.h"

#include <utility>

#include "absl/status/status.h"
#include "kiln/frontends/builder/builder.h"

namespace kiln::graph {
GraphFunction WithAttr(const GraphFunction& f, std::string key, Attr value) {
  if (!f) return f;
  FunctionFields fields = f->fields();
  fields.attrs[std::move(key)] = std::move(value);
  return GraphFunction(std::move(fields));
}

kiln::Function WithAttr(kiln::Function f, std::string key, Attr value) {
  f.attrs[std::move(key)] = std::move(value);
  return f;
}

absl::StatusOr<Module> ModuleFromExpr(const Expr& e, const std::string& name) {
  if (!e) return absl::InvalidArgumentError("there is no expression (null)");
  BlockBuilder bb;
  if (const auto* f = e.As<FunctionNode>()) {
    bb.AddFunction(GraphFunction(f));
    return bb.Finish();
  }
  const BlockBuilder::Scope main = bb.BeginFunction(name);
  const Var value = bb.Emit(e);
  bb.EmitFuncOutput(value, bb.FreeVars());
  return bb.Finish();
}

}  // namespace kiln::graph
