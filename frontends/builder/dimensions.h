// Extents that a program states: whether they are any, and who tells those that
// are variables.
#ifndef KILN_FRONTENDS_BUILDER_DIMENSIONS_H_
#define KILN_FRONTENDS_BUILDER_DIMENSIONS_H_

#include <string_view>

#include "absl/status/status.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::graph {

// InvalidArgument unless extents are int64 and not negative, and the bytes of
// tensors fit an int64. Null struct info passes. `what` begins the message.
absl::Status CheckInfo(const StructInfo& info, std::string_view what);

// InvalidArgument where `f` uses a dimension that neither a parameter nor a
// cast tells. The message begins with the name of `f`.
absl::Status CheckDimensions(const FunctionNode& f);

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_DIMENSIONS_H_
