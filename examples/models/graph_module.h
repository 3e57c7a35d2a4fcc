// A network as graph functions.
#ifndef KILN_EXAMPLES_MODELS_GRAPH_MODULE_H_
#define KILN_EXAMPLES_MODELS_GRAPH_MODULE_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/examples/models/network.h"
#include "kiln/examples/models/weights.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::models {

// How exporters write attention: as one op, or as the products and the softmax
// that it consists of.
enum class AttentionForm { kOp, kProducts };

struct ModuleOptions {
  // Extents of inputs that are left open, by name; others have their sizes.
  std::set<std::string> open;
  // Weights are parameters behind the inputs, under their names, and not
  // constants of the module.
  bool weights_are_params = false;
  AttentionForm attention = AttentionForm::kProducts;
};

// A module with the function `main`, inferred and verified. Batch norms are ops
// of their own behind their convolutions, weights of dense layers are
// transposed by an op, and nothing is fused, as exporters leave it.
// InvalidArgument for a name in `open` that no extent has.
absl::StatusOr<Module> ToModule(const Network& net, Weights& weights,
                                const ModuleOptions& options = {});

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_GRAPH_MODULE_H_
