// The arguments of a function of an executable.
#ifndef KILN_TOOLS_GRAPH_ARGUMENTS_H_
#define KILN_TOOLS_GRAPH_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

struct GraphInputs {
  std::map<std::string, NDArray> by_name;  // those of a file of parameters
  // As tools/support/input.h spells; shape:2x3 is a shape.
  std::vector<std::string> by_position;
  uint64_t seed = 0;  // of random ones
};

// One value for each parameter of `f`: that of its name, or else the next one
// by position. Without any by position, the others are random, with extents of
// their own where a dimension is symbolic; integers are 0 or 1, so that they
// are indices of most tensors. Errors name the parameter.
absl::StatusOr<std::vector<vm::Value>> GraphArguments(
    const vm::Executable& executable, const vm::Function& f,
    const GraphInputs& inputs);

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_ARGUMENTS_H_
