// The function that does to weights what was lifted.
#ifndef KILN_IR_TRANSFORM_GRAPH_TRANSFORM_FUNCTION_H_
#define KILN_IR_TRANSFORM_GRAPH_TRANSFORM_FUNCTION_H_

#include <string>
#include <vector>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/liftable.h"

namespace kiln {

// Takes the weights of `c` as the fields of one tuple, and gives `shapes`,
// whose info says what they are, and `outputs`: weights, and variables that
// were lifted. It gives its parameter where that is the same.
graph::GraphFunction TransformFunction(const std::string& name,
                                       const LiftCandidate& c,
                                       const std::vector<graph::Var>& shapes,
                                       const std::vector<graph::Var>& outputs);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_TRANSFORM_FUNCTION_H_
