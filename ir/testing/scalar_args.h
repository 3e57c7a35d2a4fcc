// Calls of functions that have scalar parameters, in tests.
#ifndef KILN_IR_TESTING_SCALAR_ARGS_H_
#define KILN_IR_TESTING_SCALAR_ARGS_H_

#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/interp/options.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Interprets `f` once on a tensor for each parameter, in place; the value of a
// scalar is the element of a tensor without dimensions.
absl::Status InterpretWithScalars(const Function& f, std::vector<Tensor>& args,
                                  const InterpOptions& options = {});

// The same value as the kernel ABI wants it (vm/library/kernel_abi.h).
int64_t ScalarBits(const Tensor& scalar);

}  // namespace kiln

#endif  // KILN_IR_TESTING_SCALAR_ARGS_H_
