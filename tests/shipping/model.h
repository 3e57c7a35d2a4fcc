// A small model with weights, compiled, and written as a shared object.
#ifndef KILN_TESTS_SHIPPING_MODEL_H_
#define KILN_TESTS_SHIPPING_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln::testing {

// main(x: float32[n, 8]) gives relu(x @ w), w as Weights(8 * 16) has it;
// parts(x: float32[n, 8], k: int64) gives (x, k, (n, 8), (x + x, 2.0));
// same(x) gives x, whatever it is.
absl::StatusOr<vm::Executable> SmallModel(const std::string& target = "llvm");

// Small whole numbers, whose products and sums floats hold exactly.
std::vector<float> Weights(int64_t count);

// What main gives for x.
std::vector<float> Expected(const std::vector<float>& x);

// An executable without kernels, whose main() gives a constant of `count`
// floats, each its index.
vm::Executable BigConstant(int64_t count);

// A path in the test's own folder.
std::string TestPath(const std::string& name);

}  // namespace kiln::testing

#endif  // KILN_TESTS_SHIPPING_MODEL_H_
