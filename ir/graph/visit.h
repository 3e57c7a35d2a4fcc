// Walks over graph functions, and rebuilds them.
#ifndef KILN_IR_GRAPH_VISIT_H_
#define KILN_IR_GRAPH_VISIT_H_

#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::graph {

// Walks `e` and all below it, parents first and in the order of evaluation;
// bindings by their values. `visit` says whether to go below. Nested functions
// and branches are below; struct info is not.
void Visit(const Expr& e, FunctionRef<bool(const Expr&)> visit);

// Every scalar of the tensor level: in shapes, numbers, and the struct info of
// variables where they are bound, of casts and of calls.
void VisitScalars(const Expr& e, FunctionRef<void(const Scalar&)> visit);
void VisitScalars(const StructInfo& info,
                  FunctionRef<void(const Scalar&)> visit);

// The variables that stand for shapes in struct info without being parameters
// or bound, in order of first appearance.
std::vector<Var> FreeShapeVars(const FunctionNode& f);

// Whether a function of the module is named.
bool UsesGlobals(const Expr& e);

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_VISIT_H_
