// The flags with which `run` and `run_model` run a function of an executable;
// those of them that `run` reads for tensor functions as well are declared.
#ifndef KILN_TOOLS_GRAPH_RUN_FLAGS_H_
#define KILN_TOOLS_GRAPH_RUN_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "kiln/tools/graph/run_graph.h"

ABSL_DECLARE_FLAG(std::string, func);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_DECLARE_FLAG(int, threads);
ABSL_DECLARE_FLAG(double, rtol);
ABSL_DECLARE_FLAG(double, atol);
ABSL_DECLARE_FLAG(bool, time);

namespace kiln {

// Flags that may stand several times, in order.
struct RepeatedRunFlags {
  std::vector<std::string> inputs, expectations, outputs, libraries;
};
// Takes them from the command line, before the others are parsed.
RepeatedRunFlags TakeRepeatedRunFlags(int* argc, char** argv);

// InvalidArgument names the flag whose value cannot be.
absl::Status CheckRunFlags();

GraphRunRequest GraphRequestOfFlags(const RepeatedRunFlags& repeated);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_RUN_FLAGS_H_
