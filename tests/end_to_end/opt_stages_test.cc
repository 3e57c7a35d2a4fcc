// What `opt` prints of a model at each stage between its text and its bytecode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "kiln/tests/support/subprocess.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kModel[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 4), "float32")):
        y = R.nn.relu(R.matmul(x, w))
        return y

    @R.function
    def other(x: R.Tensor((1, 8), "float32")):
        y = R.exp(x)
        return y
)";

std::string Printed(std::vector<std::string> flags) {
  std::vector<std::string> argv = {"tools/opt", "--module", "-"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  const testing::ProcessResult result =
      testing::RunProcess(argv, {.stdin_text = kModel});
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

TEST(OptStagesTest, GraphIsTheModuleAfterPasses) {
  EXPECT_THAT(Printed({"--stage", "graph"}),
              AllOf(HasSubstr("R.matmul(x, w"), Not(HasSubstr("T.block"))));
  EXPECT_THAT(
      Printed({"--stage", "graph", "--passes", "legalize"}),
      AllOf(HasSubstr("R.call_tir(cls.matmul, (x, w)"), HasSubstr("T.block")));
}

TEST(OptStagesTest, TensorHasTheFunctionsThatOpsBecome) {
  EXPECT_THAT(Printed({"--stage", "tensor", "--nofuse"}),
              AllOf(HasSubstr("def matmul("), HasSubstr("def relu("),
                    HasSubstr("def exp("), Not(HasSubstr("@R.function"))));
  EXPECT_THAT(Printed({"--stage", "tensor", "--func", "exp"}),
              AllOf(HasSubstr("def exp("), Not(HasSubstr("def fused_matmul"))));
}

TEST(OptStagesTest, BytecodeCallsKernels) {
  EXPECT_THAT(Printed({"--stage", "bytecode"}),
              AllOf(HasSubstr("main"), HasSubstr("matmul"), HasSubstr("relu")));
}

TEST(OptStagesTest, FuncChoosesAGraphFunction) {
  EXPECT_THAT(Printed({"--func", "other"}),
              AllOf(HasSubstr("def other("), Not(HasSubstr("def main("))));
}

TEST(OptStagesTest, RulesAreProvedAndApplied) {
  const std::string path = ::testing::TempDir() + "/rules.py";
  const auto write =
      [&](const std::string& replacement) {
        std::ofstream(path)
            << "@R.function\ndef pattern(x: R.Tensor((\"n\", 8), "
               "\"float32\")):\n    return R.exp(x)\n"
               "@R.function\ndef replacement(x: R.Tensor((\"n\", 8), "
               "\"float32\")):\n    return "
            << replacement << "\n";
      };
  write("R.divide(R.const(1.0, \"float32\"), R.exp(R.negative(x)))");
  const testing::ProcessResult endless = testing::RunProcess(
      {"tools/opt", "--module", "-", "--rules", path}, {.stdin_text = kModel});
  EXPECT_EQ(endless.status, 1);
  EXPECT_THAT(endless.err, HasSubstr("it matches what it has put in place"));
  write("R.power(R.const(2.718281828, \"float32\"), x)");
  EXPECT_THAT(Printed({"--rules", path, "--stage", "graph"}),
              AllOf(HasSubstr("R.power("), Not(HasSubstr("R.exp("))));
  EXPECT_THAT(Printed({"--rules", path, "--stage", "graph", "--passes",
                       "legalize,rewrite_by_rules"}),
              Not(HasSubstr("power")));
  write("R.power(R.const(2.8, \"float32\"), x)");
  const testing::ProcessResult wrong = testing::RunProcess(
      {"tools/opt", "--module", "-", "--rules", path}, {.stdin_text = kModel});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("the replacement does not give what the "
                                   "pattern gives (seed 0, trial 0"));
}

TEST(OptStagesTest, ModulesWithoutGraphFunctionsAreRefused) {
  for (const char* stage : {"graph", "tensor", "bytecode"}) {
    const testing::ProcessResult result = testing::RunProcess(
        {"tools/opt", "--workload", "gmm:8,8,8", "--stage", stage});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, IsEmpty());
    EXPECT_THAT(result.err,
                AllOf(HasSubstr(stage), HasSubstr("the module has none")));
  }
}

}  // namespace
}  // namespace kiln
