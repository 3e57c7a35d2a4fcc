// What the reference interpreter makes of a graph function, in the values of
// the machine.
#ifndef KILN_TOOLS_GRAPH_INTERPRETER_H_
#define KILN_TOOLS_GRAPH_INTERPRETER_H_

#include "kiln/ir/tensor/module.h"
#include "kiln/tools/graph/run_graph.h"

namespace kiln {

// Of the functions of `module`, which outlives it.
GraphInterpreter InterpreterOf(const Module& module);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_INTERPRETER_H_
