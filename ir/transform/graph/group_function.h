// A function of bindings that stand in another function.
#ifndef KILN_IR_TRANSFORM_GRAPH_GROUP_FUNCTION_H_
#define KILN_IR_TRANSFORM_GRAPH_GROUP_FUNCTION_H_

#include <string>
#include <vector>

#include "kiln/ir/graph/expr.h"

namespace kiln {

struct GroupFunction {
  graph::GraphFunction function;  // private
  std::vector<graph::Expr> args;  // what to call it with
};

// The function that computes the value of the last binding. Its parameters are
// the variables that the bindings need from outside, and their constants where
// `lifts_constants`, in order of first use; behind them a shape of the
// dimensions that those do not tell.
GroupFunction MakeGroupFunction(std::string name,
                                const std::vector<graph::Binding>& bindings,
                                bool lifts_constants);

// The same for `result`, a variable of the bindings or a tuple of such, without
// a dataflow block. Local functions among the bindings need nothing from
// outside.
GroupFunction MakeGroupFunction(std::string name,
                                const std::vector<graph::Binding>& bindings,
                                const graph::Expr& result,
                                bool lifts_constants);

// A copy of `f` with symbolic dimensions of its own, so that it can stand in
// another function.
graph::GraphFunction WithOwnDims(const graph::Expr& f);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_GROUP_FUNCTION_H_
