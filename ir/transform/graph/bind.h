// Parameters and dimensions of a function get values.
//
//   def main(x: R.Tensor((n, 4)), w: R.Tensor((4, 4))):   n = 8, w = constant
//   def main(x: R.Tensor((8, 4))):
#ifndef KILN_IR_TRANSFORM_GRAPH_BIND_H_
#define KILN_IR_TRANSFORM_GRAPH_BIND_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `values` by the names of parameters, which go. What their shapes tell of
// dimensions holds everywhere. NotFound for a function or a parameter that is
// none, InvalidArgument for a value that never fits.
absl::StatusOr<Module> BindParams(
    const Module& module, const std::string& function,
    const std::map<std::string, graph::Expr>& values);

// Dimensions by their names. NotFound as above.
absl::StatusOr<Module> BindSymbolicVars(
    const Module& module, const std::string& function,
    const std::map<std::string, int64_t>& values);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_BIND_H_
