#include "kiln/schedule/analysis/reduction_order.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// Of a block with the spatial iterator vi < 6 and the reduce iterators vk < 12
// and vl < 5, whose values are given.
bool InOrder(const std::string& loops, const std::string& k,
             const std::string& l = "l", const std::string& i = "i") {
  const Function f = ParseProgram(absl::StrCat(
      R"(
@T.prim_func
def main(A: T.Buffer((6, 12, 5), "int32"), B: T.Buffer((6,), "int32")):
    for )",
      loops, R"(:
        with T.block("B"):
            vi = T.axis.spatial(6, )",
      i, R"()
            vk = T.axis.reduce(12, )",
      k, R"()
            vl = T.axis.reduce(5, )",
      l, R"()
            with T.init():
                B[vi] = 0
            B[vi] = B[vi] // 2 + A[vi, vk, vl]
)"));
  std::vector<const ForNode*> nest;
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) nest.push_back(loop);
    return true;
  });
  return ReducesInOrder(RealizeNamed(f, "B"), nest);
}

TEST(ReductionOrderTest, SpatialLoopsStandAnywhere) {
  EXPECT_TRUE(InOrder("i, k, l in T.grid(6, 12, 5)", "k"));
  EXPECT_TRUE(InOrder("k, i, l in T.grid(12, 6, 5)", "k"));
  EXPECT_TRUE(InOrder("k, l, i in T.grid(12, 5, 6)", "k"));
}

TEST(ReductionOrderTest, ReduceLoopsStandAsTheirIterators) {
  EXPECT_FALSE(InOrder("i, l, k in T.grid(6, 5, 12)", "k"));
  EXPECT_FALSE(InOrder("l, i, k in T.grid(5, 6, 12)", "k"));
}

TEST(ReductionOrderTest, DigitsStandFromTheHighestToTheLowest) {
  EXPECT_TRUE(InOrder("i, a, b, l in T.grid(6, 3, 4, 5)", "a * 4 + b"));
  EXPECT_TRUE(InOrder("a, i, b, l in T.grid(3, 6, 4, 5)", "a * 4 + b"));
  EXPECT_FALSE(InOrder("i, b, a, l in T.grid(6, 4, 3, 5)", "a * 4 + b"));
  EXPECT_FALSE(InOrder("i, a, l, b in T.grid(6, 3, 5, 4)", "a * 4 + b"));
  EXPECT_FALSE(InOrder("i, a, b, l in T.grid(6, 6, 3, 5)", "a * 2 + b"));
}

TEST(ReductionOrderTest, WhatFallsOrIsNoSumIsNotInOrder) {
  EXPECT_FALSE(InOrder("i, k, l in T.grid(6, 12, 5)", "11 - k"));
  EXPECT_FALSE(InOrder("i, k, l in T.grid(6, 48, 5)", "k // 4"));
  EXPECT_FALSE(InOrder("i, k, l in T.grid(6, 12, 5)", "(k + 3) % 12"));
  EXPECT_FALSE(InOrder("k, l in T.grid(6, 5)", "k", "l", "k"));
}

TEST(ReductionOrderTest, AnIteratorOfOneValueCountsForNothing) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 12), "int32"), B: T.Buffer((6,), "int32")):
    for k, i in T.grid(12, 6):
        with T.block("B"):
            vo = T.axis.reduce(1, 0)
            vi = T.axis.spatial(6, i)
            vk = T.axis.reduce(12, k)
            B[vi] = B[vi] // 2 + A[vi, vk]
)");
  std::vector<const ForNode*> nest;
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) nest.push_back(loop);
    return true;
  });
  EXPECT_TRUE(ReducesInOrder(RealizeNamed(f, "B"), nest));
}

}  // namespace
}  // namespace kiln
