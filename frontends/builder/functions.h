// Small helpers around functions that code makes.
#ifndef KILN_FRONTENDS_BUILDER_FUNCTIONS_H_
#define KILN_FRONTENDS_BUILDER_FUNCTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

// The function with the attribute set:
//
//   bb.UpdateFunction("f", WithAttr(f, "Primitive", Attr(Int(1))));
GraphFunction WithAttr(const GraphFunction& f, std::string key, Attr value);
kiln::Function WithAttr(kiln::Function f, std::string key, Attr value);

// A module of one function that gives `e`. Variables that `e` does not bind
// become its parameters, in the order in which they come first. A function that
// is no part of an expression is taken as it is. The module is inferred; errors
// are those of BlockBuilder::Finish.
absl::StatusOr<Module> ModuleFromExpr(const Expr& e,
                                      const std::string& name = "main");

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_FUNCTIONS_H_
