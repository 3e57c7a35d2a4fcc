// --bind-params and --bind, of the tools that read models.
#ifndef KILN_TOOLS_SUPPORT_BIND_FLAGS_H_
#define KILN_TOOLS_SUPPORT_BIND_FLAGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of --bind-params weights.npz --bind n=16,m=4.
struct Bindings {
  std::string params;             // an .npz file; "": none
  std::vector<std::string> dims;  // "n=16"; "n=1", "16", "128": several sizes
  std::string function;  // "": main, or the only one that is not private
  // Dimensions with several sizes stay as they are, to be tuned at these sizes
  // (SampledSizes), and so do all of a module without graph functions.
  // Otherwise several sizes are refused.
  bool samples = false;
};
Bindings BindingsOfFlags();

// The module with parameters of the function as constants, and dimensions as
// numbers. Without bindings it is as it was.
absl::StatusOr<Module> Bound(Module module, const Bindings& bindings);

// What a name stands for in each sample: {"n": 1}, {"n": 16}, {"n": 128}.
using DimValues = std::map<std::string, int64_t>;

// The samples that dimensions with several sizes ask for, and of a module
// without graph functions those with one: none where there are no such
// dimensions. Several dimensions take their sizes side by side, and have to
// have equally many.
absl::StatusOr<std::vector<DimValues>> SampledSizes(const Module& module,
                                                    const Bindings& bindings);

// The graph function whose dimensions these are.
absl::StatusOr<std::string> BoundFunction(const Module& module,
                                          const Bindings& bindings);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_BIND_FLAGS_H_
