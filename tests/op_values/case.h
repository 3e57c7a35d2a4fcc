// Calls of ops with their inputs and the values that they have to give, as the
// files of make_values.py hold them:
//
//   case sum axis=[1]
//   | def main(x: R.Tensor(("n", 3), "float32")):
//   |     y = R.sum(x, axis=[1])
//   |     return y
//   run
//   in float32[2, 3] 1 2 3 4 5 6
//   out float32[2] 6 15
//
// Values are tensors, `integer 3`, `float 0.5`, `shape 2 3`, and `tuple 2`
// followed by the lines of its fields. A case with several runs is one program
// at several extents. `tolerance 1e-3 1e-4` (relative, absolute) ahead of the
// runs stands for that of the type.
#ifndef KILN_TESTS_OP_VALUES_CASE_H_
#define KILN_TESTS_OP_VALUES_CASE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/vm/machine/value.h"

namespace kiln::op_values {

struct Run {
  std::vector<vm::Value> inputs;
  vm::Value output;
};

struct Case {
  std::string op;    // "nn.conv2d"
  std::string name;  // what the case is about; with the op it is unique
  std::string program;
  std::optional<Tolerance> tolerance;
  std::vector<Run> runs;
};

// Of all files that end in .txt in the folder, by name. kInvalidArgument with
// the file, the line and the reason.
absl::StatusOr<std::vector<Case>> ReadCases(const std::string& folder);

// How far results of a type may be from the expected ones.
Tolerance ToleranceOf(DType dtype);

}  // namespace kiln::op_values

#endif  // KILN_TESTS_OP_VALUES_CASE_H_
