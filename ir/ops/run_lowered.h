// Runs what a call of an op is lowered to, for tests.
//
//   RunLowered("x: R.Tensor((\"n\", 3), \"float32\")", "nn.relu(x)", {x},
//              {{DType::Float(32), {2, 3}}})
#ifndef KILN_IR_OPS_RUN_LOWERED_H_
#define KILN_IR_OPS_RUN_LOWERED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/ops/testing/run_op.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

struct OutputSpec {
  DType dtype;
  std::vector<int64_t> shape;
};

// As RunOp (testing/run_op.h), with tensors in the order of the parameters.
// InvalidArgument where results are not of these types and shapes.
absl::StatusOr<std::vector<Tensor>> RunLowered(
    const std::string& params, const std::string& call,
    std::vector<Tensor> args, const std::vector<OutputSpec>& outputs);

// A tensor of these elements.
Tensor TensorOf(DType dtype, std::vector<int64_t> shape,
                const std::vector<double>& values);

// One whose elements are small, of both signs and no two neighbours alike;
// another `step` gives another one.
Tensor Wavy(DType dtype, std::vector<int64_t> shape, int step = 7);

}  // namespace kiln

#endif  // KILN_IR_OPS_RUN_LOWERED_H_
