// Numbers that are computed from symbolic dimensions, as calls of functions.
#ifndef KILN_IR_TRANSFORM_GRAPH_COMPUTE_PRIM_VALUES_H_
#define KILN_IR_TRANSFORM_GRAPH_COMPUTE_PRIM_VALUES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Numbers among the values, arguments and conditions of graph functions that
// are more than a constant or a dimension become calls of private functions
// that return them (ir/tensor/returned_value.h), bound ahead of their use.
// Extents of shapes stay as they are.
absl::StatusOr<Module> ComputePrimValues(const Module& module);

// The inverse: calls of functions that return a number become that number, in
// terms of the arguments. Refuses an argument that is no number of the program,
// such as a variable that holds one. Private functions that nobody calls any
// more are dropped.
absl::StatusOr<Module> InlinePrimValues(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_COMPUTE_PRIM_VALUES_H_
