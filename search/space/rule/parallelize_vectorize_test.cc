// Blocks that no other rule takes, and which of their loops run in parallel, in
// vectors, or one iteration after the other; and that they mean the same.
// Here Y[n, h, w, g, c] and V[n, g] stand for images and scales of groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Module Copy(const std::string& value, const std::string& read_shape) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer()" +
                      read_shape + R"(, "float32"),
         B: T.Buffer((3, 20, 37), "float32")):
    for i, j, k in T.grid(3, 20, 37):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = )" +
                      value + "\n");
}

TEST(ParallelizeVectorizeTest, ElementwiseBlocksRunInParallelInVectors) {
  const Module module = Copy("A[vi, vj, vk] * T.float32(2)", "(3, 20, 37)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

// Three channels of 32 pixels are 6 vectors of 16.
TEST(ParallelizeVectorizeTest, ColumnsThatFillNoVectorAreOneRowWithOthers) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 32, 3), "float32"), B: T.Buffer((20, 32, 3), "uint8")):
    for i, j, k in T.grid(20, 32, 3):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = T.Cast("uint8", A[vi, vj, vk] * T.float32(255))
)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kSerial), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

TEST(ParallelizeVectorizeTest, ColumnsWithConditionsStay) {
  const Module module =
      Copy("T.if_then_else(1 <= vk and vk < 36, A[vi, vj, vk], T.float32(0))",
           "(3, 20, 37)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_THAT(PrintFunction(f), Not(HasSubstr("% 37")));
  }
}

TEST(ParallelizeVectorizeTest, TransposesAreDoneInSquares) {
  const Module module = Copy("A[vk, vi, vj]", "(37, 3, 20)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

TEST(ParallelizeVectorizeTest, FewValuesThatDecideAreUnrolled) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((20, 74), "float32"), B: T.Buffer((20, 74), "float32")):
    for i, q, j in T.grid(20, 2, 37):
        with T.block("B"):
            vi, vq, vj = T.axis.remap("SSS", [i, q, j])
            B[vi, vq * 37 + vj] = T.if_then_else(vq == 0, A[vi, vj], A[vi, vj + 37] * T.float32(2))
)");
  const auto made = ApplyRule(ParallelizeVectorize, module, "B");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
    EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  }
}

// Y = X scaled by what is computed of V, which stands still along h and w.
Module Scaled(const std::string& columns, int extent) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(X: T.Buffer((2, 30, 9, 5, $1), "float32"), V: T.Buffer((2, 5, $2), "float32"), Y: T.Buffer((2, 30, 9, 5, $1), "float32")):
    for n, h, w, g, c in T.grid(2, 30, 9, 5, $1):
        with T.block("Y"):
            vn, vh, vw, vg, vc = T.axis.remap("SSSSS", [n, h, w, g, c])
            Y[vn, vh, vw, vg, vc] = X[vn, vh, vw, vg, vc] * T.exp(V[vn, vg, $0])
)",
                                       columns, extent,
                                       columns == "0" ? 1 : extent));
}

// Extents of loops that are not in parallel or in vectors, outermost first.
std::vector<int64_t> SerialLoops(const Function& f) {
  std::vector<int64_t> extents;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (loop && loop->for_kind == ForKind::kSerial) {
      extents.push_back(*AsInt(loop->extent));
    }
    return true;
  });
  return extents;
}

TEST(ParallelizeVectorizeTest, WhatIsComputedAsideStaysOutsideOfALoop) {
  using testing::ElementsAre;
  const auto loops = [](const Module& module) {
    const auto made = ApplyRule(ParallelizeVectorize, module, "Y");
    EXPECT_EQ(made.size(), 1u);
    const auto programs = ExpectSameMeaning(module, made);
    return programs.empty() ? std::vector<int64_t>() : SerialLoops(programs[0]);
  };
  EXPECT_THAT(loops(Scaled("vc", 32)), ElementsAre(2))
      << "groups come between: vectors alone";
  EXPECT_THAT(loops(Scaled("0", 5)), ElementsAre(30, 9, 1))
      << "pixels of one group, of few columns, after the other";
  EXPECT_THAT(loops(Scaled("0", 8)), ElementsAre(9, 3))
      << "two groups in each vector";
}

TEST(ParallelizeVectorizeTest, AFewElementsAreNotWorthAThread) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
)");
  EXPECT_TRUE(ApplyRule(ParallelizeVectorize, module, "B").empty());
}

}  // namespace
}  // namespace kiln
