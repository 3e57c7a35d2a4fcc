#include "kiln/search/space/rule/dot_steps.h"

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// A product of 24 rows of `a` with a matrix of `sums` rows of `b`.
struct Product {
  const char* a = "uint8";
  const char* b = "int8";
  int sums = 64;
  const char* index_a = "vi, vk";
  const char* index_b = "vk, vj";
  const char* c = "int32";
};

int StepsOf(const Product& p, int dots) {
  const absl::StatusOr<Module> module = ParseModule(
      "m.py", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "$0"), B: T.Buffer(($2, 64), "$1"),
         C: T.Buffer((24, 64), "$5")):
    for i, j, k in T.grid(24, 64, $2):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.$5(0)
            C[vi, vj] = C[vi, vj] + T.Cast("$5", A[$3]) * T.Cast("$5", B[$4])
)",
                               p.a, p.b, p.sums, p.index_a, p.index_b, p.c));
  KILN_EXPECT_OK(module.status());
  if (!module.ok()) return 0;
  const Function& f = module->functions[0];
  const auto info = DescribeBlock(f, "C");
  const auto axes = info ? ChooseTileAxes(*info) : std::nullopt;
  if (!axes) return 0;
  VectorRegisters registers = kAvx512Registers;
  registers.dots = {dots, true};
  return DotSteps(*info, NodeOf(f, "C"), *axes, registers);
}

TEST(DotStepsTest, AsManyAsTheMachineTakes) {
  EXPECT_EQ(StepsOf({}, 4), 4);
  EXPECT_EQ(StepsOf({}, 2), 2);
  EXPECT_EQ(StepsOf({}, 1), 1);
  EXPECT_EQ(StepsOf({"int8", "uint8"}, 4), 4);
  EXPECT_EQ(StepsOf({"int8", "int8"}, 4), 2);
  EXPECT_EQ(StepsOf({"int16", "int8"}, 4), 2);
  EXPECT_EQ(StepsOf({"int32", "int32"}, 4), 1);
}

TEST(DotStepsTest, TheLastOnesOfASumMayBeFewer) {
  EXPECT_EQ(StepsOf({"uint8", "int8", 62}, 4), 4);
  EXPECT_EQ(StepsOf({"uint8", "int8", 63}, 4), 4);
  EXPECT_EQ(StepsOf({"int16", "int8", 63}, 4), 2);
  EXPECT_EQ(StepsOf({"uint8", "int8", 3}, 4), 4);
  EXPECT_EQ(StepsOf({"uint8", "int8", 2}, 4), 2);
  EXPECT_EQ(StepsOf({"uint8", "int8", 1}, 4), 1);
}

TEST(DotStepsTest, OfBfloat16) {
  const auto steps_of = [](int sums) {
    return StepsOf(
        {"bfloat16", "bfloat16", sums, "vi, vk", "vk, vj", "float32"}, 4);
  };
  EXPECT_EQ(steps_of(64), 2);
  EXPECT_EQ(steps_of(63), 1) << "what is behind the end may be no number";
}

TEST(DotStepsTest, OperandsLieForThem) {
  EXPECT_EQ(StepsOf({"uint8", "int8", 64, "vk, vi"}, 4), 1);
  EXPECT_EQ(StepsOf({"uint8", "int8", 64, "vi, vk", "vj, vk"}, 4), 1);
  EXPECT_EQ(StepsOf({"uint8", "int8", 64, "vi, vj"}, 4), 1);
}

}  // namespace
}  // namespace kiln
