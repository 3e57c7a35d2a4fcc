// Products of narrow numbers: which operands are copied, where the copies are
// made, and that all designs compute what the program computes.
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

// A of rows x steps times B of steps x columns.
struct Product {
  std::string a = "int8", b = "int8", sum = "float32";
  int rows = 24, columns = 40, steps = 16;
  std::string index_b = "vk, vj";
  std::string shape_b = "(16, 40)";
};

Module Program(const Product& p) {
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($3, $5), "$0"), B: T.Buffer($7, "$1"),
         C: T.Buffer(($3, $4), "$2")):
    for i, j, k in T.grid($3, $4, $5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.Cast("$2", 0)
            C[vi, vj] = C[vi, vj] + T.Cast("$2", A[vi, vk]) * T.Cast("$2", B[$6])
)",
      p.a, p.b, p.sum, p.rows, p.columns, p.steps, p.index_b, p.shape_b));
}

std::string TraceOf(const Product& p, const RuleContext& context = {}) {
  const std::vector<Schedule> made =
      ApplyRule(WideOperands, Program(p), "C", context);
  return made.empty() ? "" : ToText(made[0].trace());
}

int Count(const std::string& trace, const std::string& step) {
  int count = 0;
  for (size_t at = 0; (at = trace.find(step, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

int CountHoists(const std::string& trace) { return Count(trace, "hoist_cast"); }

TEST(WideOperandsTest, BothWhereBothAreNarrow) {
  EXPECT_EQ(CountHoists(TraceOf({})), 2);
  EXPECT_EQ(CountHoists(TraceOf({.a = "float16", .b = "bfloat16"})), 2);
  EXPECT_EQ(CountHoists(TraceOf({.a = "float32"})), 1);
  EXPECT_EQ(TraceOf({.a = "float32", .b = "float32"}), "");
}

TEST(WideOperandsTest, OnlyWhatIsUsedOften) {
  EXPECT_EQ(CountHoists(TraceOf({.rows = 15})), 1);
  RuleContext two;
  two.cores = 2;
  EXPECT_EQ(CountHoists(TraceOf({.rows = 31}, two)), 1);
  EXPECT_EQ(CountHoists(TraceOf({.rows = 32}, two)), 2);
  EXPECT_EQ(CountHoists(TraceOf({.columns = 4, .shape_b = "(16, 4)"})), 2);
  EXPECT_EQ(CountHoists(TraceOf({.columns = 3, .shape_b = "(16, 3)"})), 1);
}

TEST(WideOperandsTest, NotForInstructionsThatTakeThem) {
  RuleContext context;
  context.registers.dots.bf16 = true;
  const Product p = {.a = "bfloat16", .b = "bfloat16"};
  EXPECT_EQ(CountHoists(TraceOf(p)), 2);
  EXPECT_EQ(CountHoists(TraceOf(p, context)), 0);
  EXPECT_EQ(CountHoists(TraceOf({.sum = "int32"})), 0);
}

TEST(WideOperandsTest, WhatTransposesMakesItWide) {
  const Product p = {.index_b = "vj, vk", .shape_b = "(40, 16)"};
  const std::vector<Schedule> transposed =
      ApplyRule(TransposeOperands, Program(p), "C");
  ASSERT_FALSE(transposed.empty());
  const std::vector<Schedule> made =
      WideOperands(transposed[0], "C", RuleContext());
  ASSERT_FALSE(made.empty());
  const std::string trace = ToText(made[0].trace());
  EXPECT_EQ(CountHoists(trace), 2);
  EXPECT_EQ(Count(trace, "cache_read"), 2);
}

TEST(WideOperandsTest, AllDesignsComputeTheSame) {
  for (const Product& p : {Product{},
                           {.a = "bfloat16", .b = "float32"},
                           {.a = "float16", .b = "uint8", .sum = "float64"},
                           {.rows = 33,
                            .columns = 19,
                            .index_b = "vj, vk",
                            .shape_b = "(19, 16)"}}) {
    const std::vector<Schedule> made =
        ApplyRules(Program(p),
                   RulesNamed({"auto-inline", "transpose-operands",
                               "wide-operands", "register-tiling",
                               "near-transposes", "parallelize-vectorize"}),
                   RuleContext(), 8);
    ASSERT_FALSE(made.empty());
    ExpectSameMeaning(Program(p), made, 2);
  }
}

}  // namespace
}  // namespace kiln
