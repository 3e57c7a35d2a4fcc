#include "kiln/tests/shipping/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "kiln/base/blob.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/tools/support/model.h"

namespace kiln::testing {
namespace {

constexpr int64_t kIn = 8, kOut = 16;

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 16), "float32")):
        product = R.matmul(x, w)
        y = R.nn.relu(product)
        return y

    @R.function
    def parts(x: R.Tensor(("n", 8), "float32"), k: R.Prim("int64")):
        s = R.shape_of(x)
        twice = R.add(x, x)
        half = (twice, k)
        y = (x, k, s, half)
        return y

    @R.function
    def same(x: R.Object):
        return x
)";

absl::StatusOr<Blob> BytesOf(const std::vector<float>& values) {
  return Blob::Copy({reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float)});
}

}  // namespace

std::vector<float> Weights(int64_t count) {
  std::vector<float> weights(count);
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = static_cast<float>(i * 7 % 11 - 5);
  }
  return weights;
}

std::vector<float> Expected(const std::vector<float>& x) {
  const std::vector<float> w = Weights(kIn * kOut);
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / kIn; ++row) {
    for (int64_t j = 0; j < kOut; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < kIn; ++k) {
        sum += x[row * kIn + k] * w[k * kOut + j];
      }
      y.push_back(std::max(0.0f, sum));
    }
  }
  return y;
}

absl::StatusOr<vm::Executable> SmallModel(const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget(text));
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule("model.py", kProgram));
  KILN_ASSIGN_OR_RETURN(Blob data, BytesOf(Weights(kIn * kOut)));
  const std::map<std::string, graph::Expr> constants = {
      {"w", graph::Expr(new graph::ConstantNode(DType::Float(32), {kIn, kOut},
                                                std::move(data)))}};
  KILN_ASSIGN_OR_RETURN(const Module bound,
                        BindParams(module, "main", constants));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(bound));
  return CompileModel(prepared, target, KeepSchedules());
}

vm::Executable BigConstant(int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  absl::StatusOr<Blob> data = BytesOf(values);
  KILN_CHECK(data.ok()) << data.status();
  vm::Function main;
  main.name = "main";
  main.num_registers = 1;
  main.code = {{vm::Opcode::kReturn,
                vm::Instruction::kNone,
                vm::Instruction::kNone,
                vm::Instruction::kNone,
                vm::Instruction::kNone,
                {{vm::Operand::Kind::kConstant, false, 0}}}};
  vm::Executable executable;
  executable.functions.push_back(std::move(main));
  executable.constants.push_back(
      vm::TensorConstant{DType::Float(32), {count}, *std::move(data)});
  return executable;
}

std::string TestPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

}  // namespace kiln::testing
