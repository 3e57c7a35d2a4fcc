// --bind-params and --bind, of the tools that read models.
#ifndef KILN_TOOLS_SUPPORT_BIND_FLAGS_H_
#define KILN_TOOLS_SUPPORT_BIND_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of --bind-params weights.npz --bind n=16,m=4.
struct Bindings {
  std::string params;             // an .npz file; "": none
  std::vector<std::string> dims;  // "n=16"
  std::string function;  // "": main, or the only one that is not private
};
Bindings BindingsOfFlags();

// The module with parameters of the function as constants, and dimensions as
// numbers. Without bindings it is
// as it was.
absl::StatusOr<Module> Bound(Module module, const Bindings& bindings);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_BIND_FLAGS_H_
