// The classifier of examples/mlp, built in code with its weights as constants:
// what it says of images that it was not trained on.
//
//   relu(x @ w0.T + b0) @ w1.T + b1      for any number of rows of x
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/npz.h"

namespace kiln {
namespace {

using graph::CallOp;
using Arrays = std::map<std::string, NDArray>;

constexpr int64_t kPixels = 784, kClasses = 10;

std::vector<int64_t> ShapeOf(const NDArray& array) {
  return {array.shape().begin(), array.shape().end()};
}

absl::StatusOr<graph::Expr> ConstantOf(const NDArray& array) {
  const std::string_view bytes(array.data_as<char>(), array.bytes());
  KILN_ASSIGN_OR_RETURN(Blob data, Blob::Copy(bytes));
  return graph::Expr(
      new graph::ConstantNode(array.dtype(), ShapeOf(array), std::move(data)));
}

graph::Expr Linear(const graph::Expr& x, const graph::Expr& w,
                   const graph::Expr& b) {
  return CallOp("add", {CallOp("matmul", {x, CallOp("permute_dims", {w})}), b});
}

absl::StatusOr<Module> Classifier(const Arrays& weights) {
  std::map<std::string, graph::Expr> constants;
  for (const auto& [name, array] : weights) {
    KILN_ASSIGN_OR_RETURN(constants[name], ConstantOf(array));
  }
  const Var n("n");
  const graph::Var x("x", graph::Tensor({n, Int(kPixels)}, DType::Float(32)));
  graph::BlockBuilder bb;
  const auto main = bb.BeginFunction("main", {x});
  auto dataflow = bb.BeginDataflow();
  const graph::Var hidden =
      bb.Emit(CallOp("nn.relu", {Linear(x, constants["w0"], constants["b0"])}));
  const graph::Var out =
      bb.EmitOutput(Linear(hidden, constants["w1"], constants["b1"]));
  dataflow.End();
  bb.EmitFuncOutput(out);
  return bb.Finish();
}

absl::StatusOr<vm::Value> CompileAndRun(const Module& model,
                                        const NDArray& input) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(model));
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        CompileModel(prepared, target, KeepSchedules()));
  ThreadPool pool;
  KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine,
                        vm::Machine::Create(std::move(executable), {}, &host));
  return machine->Call("main", {input});
}

// Pixels as the model was trained on: from 0 to 1.
absl::StatusOr<NDArray> Scaled(const NDArray& images) {
  KILN_ASSIGN_OR_RETURN(NDArray scaled,
                        NDArray::Empty(ShapeOf(images), DType::Float(32)));
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    scaled.data_as<float>()[i] = images.data_as<uint8_t>()[i] / 255.0f;
  }
  return scaled;
}

TEST(ClassifierTest, NamesImagesThatItHasNotSeen) {
  KILN_ASSERT_OK_AND_ASSIGN(const Arrays weights,
                            ReadNpz("examples/mlp/data/weights.npz"));
  KILN_ASSERT_OK_AND_ASSIGN(const Arrays tests,
                            ReadNpz("examples/mlp/data/test.npz"));
  const absl::StatusOr<Module> model = Classifier(weights);
  KILN_ASSERT_OK(model);
  const absl::StatusOr<NDArray> input = Scaled(tests.at("images"));
  KILN_ASSERT_OK(input);
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Value got, CompileAndRun(*model, *input));
  const auto scores = std::get<NDArray>(got).elements<float>();
  const auto labels = tests.at("labels").elements<int64_t>();
  ASSERT_EQ(scores.size(), labels.size() * kClasses);
  int64_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const float* row = scores.data() + i * kClasses;
    right += std::max_element(row, row + kClasses) - row == labels[i];
  }
  // As NumPy says: 298 of 300.
  EXPECT_EQ(right, 298);
}

}  // namespace
}  // namespace kiln
