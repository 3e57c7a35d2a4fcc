// One tensor function that computes what a graph function does.
#ifndef KILN_IR_TRANSFORM_GRAPH_FUSED_FUNCTION_H_
#define KILN_IR_TRANSFORM_GRAPH_FUSED_FUNCTION_H_

#include <optional>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The bodies of the tensor functions that `f` calls, one after the other, with
// what they hand on in buffers of its own. Its parameters are the tensors that
// `f` takes (tuples field by field), the numbers that it takes (shapes value by
// value), and what it gives. nullopt where `f` does anything else but call
// tensor functions of blocks, or where extents are not known.
std::optional<Function> FusedFunction(const graph::FunctionNode& f,
                                      const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUSED_FUNCTION_H_
