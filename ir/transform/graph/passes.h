// Passes over graph functions, by name.
#ifndef KILN_IR_TRANSFORM_GRAPH_PASSES_H_
#define KILN_IR_TRANSFORM_GRAPH_PASSES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {

struct GraphPassOptions {
  // What rewrite_by_rules applies; proved (rules/check_rule.h) by who reads
  // them.
  std::vector<Rule> rules;
};

// "infer", "legalize", "dce", ...
std::vector<std::string> GraphPassNames();

// Runs the passes in the order given. InvalidArgument for a name that is none,
// with those that are; the error of a pass begins with its name.
absl::StatusOr<Module> RunGraphPasses(Module module,
                                      const std::vector<std::string>& names,
                                      const GraphPassOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_PASSES_H_
