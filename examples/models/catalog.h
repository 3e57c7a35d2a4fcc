// The models by name, as command lines ask for them.
#ifndef KILN_EXAMPLES_MODELS_CATALOG_H_
#define KILN_EXAMPLES_MODELS_CATALOG_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/examples/models/network.h"

namespace kiln::models {

// Extents as text: "16" is a number, "n" is left open, and "n=16" is left open
// and is 16 where the model runs. The letter is the extent's own: n, t, l.
struct ModelRequest {
  std::string name;            // "resnet50"
  std::string batch = "1";     // n: images or sequences
  std::string tokens = "128";  // t: of each sequence, for encoders
  std::string length = "128";  // l: tokens in the cache, for decoders
};

struct RequestedModel {
  Network net;                 // of the sizes at which it runs
  std::set<std::string> open;  // extents that are left open
};

// InvalidArgument for a name that is none, with those that are, for text that
// is no extent, and for sizes that the model does not have.
absl::StatusOr<RequestedModel> MakeModel(const ModelRequest& request);

std::vector<std::string> ModelNames();
// A line for each, for --help.
std::string ModelHelp();

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_CATALOG_H_
