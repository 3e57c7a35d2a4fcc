// A C++ header with a typed function for each function of a model.
#ifndef KILN_TOOLS_GRAPH_CPP_HEADER_H_
#define KILN_TOOLS_GRAPH_CPP_HEADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// The header for programs that are linked to the model's shared object, where
// `symbol` is the name of the model. It declares a class Module in the
// namespace `name` (vm/capi/module.h). InvalidArgument for a name or a function
// that cannot be spelled in C++.
absl::StatusOr<std::string> CppHeader(const vm::Executable& executable,
                                      const std::string& name,
                                      const std::string& symbol);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_CPP_HEADER_H_
