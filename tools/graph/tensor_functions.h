// Tensor functions that a program calls as it calls graph functions.
#ifndef KILN_TOOLS_GRAPH_TENSOR_FUNCTIONS_H_
#define KILN_TOOLS_GRAPH_TENSOR_FUNCTIONS_H_

#include "absl/status/status.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// Adds a function for each tensor function of `module`, as it was written, that
// is not private. It takes the same arguments, writes into those that the
// tensor function writes, and gives the empty tuple. A kernel of that name is
// the executable's own, or is compiled.
absl::Status AddTensorFunctions(const Module& module, const Target& target,
                                const Scheduler& schedule,
                                vm::Executable* executable);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_TENSOR_FUNCTIONS_H_
