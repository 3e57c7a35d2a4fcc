#include "kiln/tools/graph/interpreter.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/value.h"

namespace kiln {
namespace {

absl::StatusOr<vm::Value> Interpreted(const Module& module,
                                      const std::string& function,
                                      const std::vector<vm::Value>& args,
                                      const vm::FunctionTable& functions) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  std::vector<graph::Value> values;
  for (const vm::Value& arg : args) {
    KILN_ASSIGN_OR_RETURN(graph::Value value, ToGraphValue(arg));
    values.push_back(std::move(value));
  }
  const graph::PackedTable packed = ToPackedTable(functions);
  graph::GraphInterpOptions options;
  options.packed = &packed;
  KILN_ASSIGN_OR_RETURN(
      const graph::Value result,
      graph::InterpretGraph(inferred, function, values, options));
  return ToVmValue(result);
}

}  // namespace

GraphInterpreter InterpreterOf(const Module& module) {
  return
      [&module](const std::string& function, const std::vector<vm::Value>& args,
                const vm::FunctionTable& functions) {
        return Interpreted(module, function, args, functions);
      };
}

}  // namespace kiln
