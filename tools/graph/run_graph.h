// Runs a function of an executable as `run` is asked to.
#ifndef KILN_TOOLS_GRAPH_RUN_GRAPH_H_
#define KILN_TOOLS_GRAPH_RUN_GRAPH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/tools/support/tolerances.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/value.h"

namespace kiln {

// What a function gives for arguments by another way than the machine's.
using GraphInterpreter = std::function<absl::StatusOr<vm::Value>(
    const std::string& function, const std::vector<vm::Value>& args,
    const vm::FunctionTable& functions)>;

struct GraphRunRequest {
  std::string func;  // empty: "main", or the only one
  std::vector<std::string> inputs, expectations, outputs;
  std::vector<std::string> libraries;  // of packed functions, by path
  std::string params;                  // a path of an .npz file, or empty
  uint64_t seed = 0;
  int threads = 0;  // 0: the cores of the machine
  double rtol = -1, atol = -1;
  ErrorBound bound = ErrorBound::kComponentwise;
  bool time = false;
  std::string profile;  // "", "table", "json" or "chrome"
  // Where the result is to be compared with another way to compute it.
  GraphInterpreter interpreter;
};

// Results are the tensors of what the function gives, tuples field by field, in
// order. The exit status of `run` (tools/support/main.h).
absl::StatusOr<int> RunGraph(
    const std::shared_ptr<const vm::LoadedExecutable>& loaded,
    const GraphRunRequest& request);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_RUN_GRAPH_H_
