// Runs a function of an executable as `run` is asked to.
#ifndef KILN_TOOLS_GRAPH_RUN_GRAPH_H_
#define KILN_TOOLS_GRAPH_RUN_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

struct GraphRunRequest {
  std::string func;  // empty: "main", or the only one
  std::vector<std::string> inputs, expectations, outputs;
  std::vector<std::string> libraries;  // of packed functions, by path
  std::string params;                  // a path of an .npz file, or empty
  uint64_t seed = 0;
  int threads = 0;  // 0: the cores of the machine
  double rtol = -1, atol = -1;
  bool time = false;
  std::string profile;  // "", "table", "json" or "chrome"
  // Where the result is to be compared with the interpreter's.
  const Module* check = nullptr;
};

// Results are the tensors of what the function gives, tuples field by field, in
// order. The exit status of `run` (tools/support/main.h).
absl::StatusOr<int> RunGraph(vm::Executable executable,
                             const GraphRunRequest& request);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_RUN_GRAPH_H_
