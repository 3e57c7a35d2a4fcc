// The model that a command line names, with --batch, --tokens, --length,
// --seed and --attention.
#ifndef KILN_EXAMPLES_MODELS_MODEL_FLAGS_H_
#define KILN_EXAMPLES_MODELS_MODEL_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/network.h"

namespace kiln::models {

struct ModelOfFlags {
  Network net;
  ModuleOptions options;
  uint64_t seed;
};

// `names` are the arguments that are no flags, of which there is one.
absl::StatusOr<ModelOfFlags> ReadModelFlags(
    const std::vector<std::string>& names);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_MODEL_FLAGS_H_
