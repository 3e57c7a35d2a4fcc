#include "kiln/codegen/lower/guards/guard_zero_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Loops i and j (16) around `body`, over A, B, C of 16 elements and D of flags.
Function WithBody(const std::string& body,
                  const std::string& j_loop = "range(16)") {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"),
         C: T.Buffer((16,), "float32"), D: T.Buffer((16,), "int64")):
    for i in range(16):
        for j in )" + j_loop +
                           ":\n            " + body + "\n";
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module->functions[0];
}

std::string Skipped(const Function& f) {
  absl::StatusOr<Function> skipped = GuardZeroUpdates(f);
  EXPECT_TRUE(skipped.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(f, *skipped, 3));
  Module module;
  module.functions.push_back(*skipped);
  return PrintModule(module);
}

constexpr char kPadded[] =
    "C[i] = C[i] + T.if_then_else(1 <= j and j < i, A[j - 1], T.float32(0)) * "
    "B[j]";

TEST(GuardZeroUpdatesTest, AProductWithPaddingIsAddedWhereThereIsNone) {
  const std::string text = Skipped(WithBody(kPadded));
  EXPECT_THAT(text, HasSubstr("if 1 <= j and j < i:"));
  EXPECT_THAT(text, HasSubstr("C[i] = C[i] + A[j - 1] * B[j]"));
}

TEST(GuardZeroUpdatesTest, TheOrderOfOperandsAndCastsMakeNoDifference) {
  const std::string text = Skipped(
      WithBody("C[i] = B[j] * T.Cast(\"float32\", T.if_then_else(j < i, D[j], "
               "T.int64(0))) + C[i]"));
  EXPECT_THAT(text, HasSubstr("if j < i:"));
  EXPECT_THAT(text, Not(HasSubstr("if_then_else")));
}

TEST(GuardZeroUpdatesTest, ConditionsThatLanesTakeDifferentlyStay) {
  const std::string text =
      Skipped(WithBody("C[j] = C[j] + T.if_then_else(1 <= i and j < i, A[j], "
                       "T.float32(0)) * B[j]",
                       "T.vectorized(16)"));
  EXPECT_THAT(text, HasSubstr("if 1 <= i:"));
  EXPECT_THAT(text, HasSubstr("T.if_then_else(j < i, A[j], T.float32(0"));
}

TEST(GuardZeroUpdatesTest, WhatIsNoSumOfProductsWithZeroStays) {
  for (const char* body :
       {"C[i] = C[i] + T.if_then_else(j < i, A[j], T.float32(1)) * B[j]",
        "C[i] = C[i] + (T.if_then_else(j < i, A[j], T.float32(0)) + B[j])",
        "C[i] = B[i] + T.if_then_else(j < i, A[j], T.float32(0)) * B[j]",
        "C[i] = C[i] * T.if_then_else(j < i, A[j], T.float32(0))",
        "C[i] = C[i] + T.if_then_else(D[j] < i, A[j], T.float32(0)) * B[j]",
        "C[i] = T.max(C[i], T.if_then_else(j < i, A[j], T.float32(0)))"}) {
    EXPECT_THAT(Skipped(WithBody(body)), Not(HasSubstr("if j < i"))) << body;
  }
}

// A transposed convolution by 2 in one dimension, its output and its taps split
// by what remains: half of the products are with zeros between elements.
TEST(GuardZeroUpdatesTest, GapsOfATransposedConvolutionCostNoLoop) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("t1d.py", R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), W: T.Buffer((4, 16), "float32"),
         C: T.Buffer((16, 16), "float32")):
    for xp, x, rp, r, c in T.grid(2, 8, 2, 2, 16):
        with T.block("C"):
            vx = T.axis.spatial(16, x * 2 + xp)
            vr = T.axis.reduce(4, r * 2 + rp)
            vc = T.axis.spatial(16, c)
            with T.init():
                C[vx, vc] = T.float32(0)
            C[vx, vc] = C[vx, vc] + T.if_then_else((vx + vr) % 2 == 0,
                A[(vx + vr) // 2], T.float32(0)) * W[vr, vc]
)"));
  const Function& f = module.functions[0];
  KILN_ASSERT_OK_AND_ASSIGN(Function lowered, Lower(f));
  KILN_EXPECT_OK(lower::CompareMeaning(f, lowered, 5));
  VisitExprs(lowered.body, [](const Expr& e) {
    const auto* call = e.As<CallNode>();
    EXPECT_FALSE(call && call->op == Intrinsic::kIfThenElse);
    return true;
  });
}

}  // namespace
}  // namespace kiln
