// A graph function to bytecode.
#ifndef KILN_CODEGEN_GRAPH_COMPILE_FUNCTION_H_
#define KILN_CODEGEN_GRAPH_COMPILE_FUNCTION_H_

#include "absl/status/statusor.h"
#include "kiln/codegen/graph/tables.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// The function is in A-normal form with struct info (ir/ops/infer.h), has no
// functions inside, and the indices of all that it calls stand in the tables.
// InvalidArgument, with the variable, for what cannot be compiled: an op that
// is no call of a function, a result whose extents nothing tells.
absl::StatusOr<vm::Function> CompileGraphFunction(const graph::FunctionNode& f,
                                                  ExecutableTables& tables);

}  // namespace kiln

#endif  // KILN_CODEGEN_GRAPH_COMPILE_FUNCTION_H_
