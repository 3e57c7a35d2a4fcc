// Values of the virtual machine as the interpreter of graph functions has them,
// and back.
#ifndef KILN_TOOLS_SUPPORT_GRAPH_VALUES_H_
#define KILN_TOOLS_SUPPORT_GRAPH_VALUES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/value.h"

namespace kiln {

// Copies tensors. InvalidArgument for functions and objects, which are bound to
// what they came from.
absl::StatusOr<graph::Value> ToGraphValue(const vm::Value& value);
absl::StatusOr<vm::Value> ToVmValue(const graph::Value& value);

// The functions of a machine for the interpreter: they get copies of tensors,
// whose contents are copied back.
graph::PackedTable ToPackedTable(const vm::FunctionTable& functions);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_GRAPH_VALUES_H_
