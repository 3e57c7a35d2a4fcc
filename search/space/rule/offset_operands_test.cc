// Products of bytes: which get an offset, how their sums are tiled, and that
// all designs compute what the program computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RuleContext WithDots(int dots) {
  RuleContext context;
  context.registers.dots.integers = dots;
  return context;
}

// A of rows x steps times B of steps x columns, and half of each element.
struct Product {
  std::string a = "int8", b = "int8";
  int rows = 24, columns = 40, steps = 16;
  std::string index_b = "vk, vj";
  std::string shape_b = "(16, 40)";
};

Module Program(const Product& p) {
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($2, $4), "$0"), B: T.Buffer($6, "$1"),
         Y: T.Buffer(($2, $3), "int32")):
    C = T.alloc_buffer(($2, $3), "int32")
    for i, j, k in T.grid($2, $3, $4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[$5])
    for i, j in T.grid($2, $3):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = C[vi, vj] // 2
)",
      p.a, p.b, p.rows, p.columns, p.steps, p.index_b, p.shape_b));
}

std::string TraceOf(const Product& p, const RuleContext& context) {
  const std::vector<Schedule> made =
      ApplyRule(OffsetOperands, Program(p), "C", context);
  return made.empty() ? "" : ToText(made[0].trace());
}

TEST(OffsetOperandsTest, WhereBothFactorsAreAlike) {
  EXPECT_THAT(TraceOf({}, WithDots(4)), HasSubstr("read_index=0"));
  EXPECT_THAT(TraceOf({"uint8", "uint8"}, WithDots(4)),
              HasSubstr("read_index=0"));
  EXPECT_EQ(TraceOf({"uint8", "int8"}, WithDots(4)), "");
  EXPECT_EQ(TraceOf({"int16", "int8"}, WithDots(4)), "");
}

TEST(OffsetOperandsTest, WhereTheMachineMultipliesBytes) {
  EXPECT_EQ(TraceOf({}, WithDots(2)), "");
  EXPECT_EQ(TraceOf({}, WithDots(1)), "");
}

TEST(OffsetOperandsTest, WhereItIsWorthThePasses) {
  EXPECT_EQ(TraceOf({.rows = 3}, WithDots(4)), "") << "few uses";
  EXPECT_EQ(TraceOf({.steps = 2, .shape_b = "(2, 40)"}, WithDots(4)), "");
  EXPECT_EQ(TraceOf({.steps = 15, .shape_b = "(15, 40)"}, WithDots(4)), "");
  EXPECT_NE(TraceOf({.steps = 17, .shape_b = "(17, 40)"}, WithDots(4)), "");
}

TEST(OffsetOperandsTest, TheConsumerTakesItOff) {
  EXPECT_THAT(TraceOf({}, WithDots(4)), HasSubstr("sch.compute_inline"));
}

// All designs, by the rules for operands and tiles.
std::vector<Schedule> Designs(const Product& p, int dots) {
  return ApplyRules(
      Program(p),
      RulesNamed({"auto-inline", "offset-operands", "transpose-operands",
                  "merge-axes", "register-tiling", "parallelize-vectorize"}),
      WithDots(dots), 8);
}

int CountWith(const std::vector<Schedule>& made, const std::string& text) {
  int count = 0;
  for (const Schedule& one : made) {
    count += ToText(one.trace()).find(text) != std::string::npos;
  }
  return count;
}

TEST(OffsetOperandsTest, AllDesignsComputeTheSame) {
  const Product transposed = {.index_b = "vj, vk", .shape_b = "(40, 16)"};
  for (const Product& p :
       {Product{},
        {"uint8", "uint8"},
        {"uint8", "int8"},
        transposed,
        {"int16", "int8"},
        {.rows = 17, .columns = 33, .steps = 20, .shape_b = "(20, 33)"},
        {.steps = 19, .shape_b = "(19, 40)"},
        {.steps = 35, .shape_b = "(35, 40)"}}) {
    for (const int dots : {1, 2, 4}) {
      const std::vector<Schedule> made = Designs(p, dots);
      ASSERT_FALSE(made.empty());
      ExpectSameMeaning(Program(p), made, 2);
    }
  }
}

TEST(OffsetOperandsTest, PanelsHoldTheStepsOfAnInstruction) {
  EXPECT_GT(CountWith(Designs({}, 4), "d0 % 4"), 0);
  EXPECT_GT(CountWith(Designs({}, 2), "d0 % 2"), 0);
  EXPECT_EQ(CountWith(Designs({}, 2), "d0 % 4"), 0);
  EXPECT_EQ(CountWith(Designs({}, 1), "d0 % 2"), 0);
}

}  // namespace
}  // namespace kiln
