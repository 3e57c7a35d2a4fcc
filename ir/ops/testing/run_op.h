// Calls of ops, lowered and run by the interpreter, for tests.
//
//   RunOp("x: R.Tensor((\"n\", 3), \"float32\")", "sum(x, axis=[1])",
//         {{"x", Numbers({2, 3}, {1, 2, 3, 4, 5, 9})}})    {Tensor {6, 18}}
#ifndef KILN_IR_OPS_TESTING_RUN_OP_H_
#define KILN_IR_OPS_TESTING_RUN_OP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

Tensor Numbers(std::vector<int64_t> shape, const std::vector<double>& values,
               DType dtype = DType::Float(32));
std::vector<double> ValuesOf(const Tensor& tensor);

// def main(params): y = R.<call>; return y, read, inferred and legalized.
absl::StatusOr<Module> LegalizedCall(const std::string& params,
                                     const std::string& call);

// What the call gives, a tensor for each field of a tuple. Tensors among the
// parameters are `tensors` by name; numbers, and dimensions that no tensor
// tells, are `numbers` by name. An error where the call stays an op.
absl::StatusOr<std::vector<Tensor>> RunOp(
    const std::string& params, const std::string& call,
    const std::map<std::string, Tensor>& tensors,
    const std::map<std::string, int64_t>& numbers = {});

// The values of the only tensor that the call gives.
absl::StatusOr<std::vector<double>> ValuesOfOp(
    const std::string& params, const std::string& call,
    const std::map<std::string, Tensor>& tensors = {},
    const std::map<std::string, int64_t>& numbers = {});

}  // namespace kiln

#endif  // KILN_IR_OPS_TESTING_RUN_OP_H_
