#include "kiln/schedule/analysis/dense.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// A store at `index` under loops i of 4, j of 6 and k of 5.
Function Program(const std::string& index) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4096,), "int32"), n: T.int64):
    for i, j, k in T.grid(T.int64(4), T.int64(6), T.int64(5)):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            A[)",
                                   index, R"(] = 1
)"));
}

bool IsDenseAt(const std::string& index, int64_t width = 1) {
  const Function f = Program(index);
  const BlockRealizeNode& realize = RealizeNamed(f, "B");
  std::vector<const ForNode*> loops;
  for (LoopId id : LoopsOf(f, "B")) loops.push_back(&LoopById(f, id));
  VarMap map;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    map[realize.block->iters[i].var.get()] = realize.values[i];
  }
  const Expr at = realize.block->writes[0].region[0].min;
  return IsDense(Substitute(at, map), width, loops);
}

TEST(DenseTest, StepsThatTheSmallerOnesFillLeaveNoGap) {
  EXPECT_TRUE(IsDenseAt("vi"));
  EXPECT_TRUE(IsDenseAt("vi * 6 + vj"));
  EXPECT_TRUE(IsDenseAt("vi * 30 + vj * 5 + vk"));
  EXPECT_TRUE(IsDenseAt("vi * 4 + vj"));       // overlaps
  EXPECT_TRUE(IsDenseAt("99 - vi * 6 - vj"));  // downwards
  EXPECT_FALSE(IsDenseAt("vi * 7 + vj"));
  EXPECT_FALSE(IsDenseAt("vi * 30 + vj * 6 + vk"));
  EXPECT_FALSE(IsDenseAt("vi * 2"));
}

TEST(DenseTest, AWidthFillsTheStepsBelowIt) {
  EXPECT_TRUE(IsDenseAt("vi * 2", 2));
  EXPECT_FALSE(IsDenseAt("vi * 3", 2));
  EXPECT_TRUE(IsDenseAt("vi * 8 + vj", 3));
}

TEST(DenseTest, WhatStandsStillDoesNotMatter) {
  EXPECT_TRUE(IsDenseAt("vi + T.int64(100)"));
  EXPECT_TRUE(IsDenseAt("vi * 6 + vj + n * n"));
}

TEST(DenseTest, OtherFormsCannotBeTold) {
  EXPECT_FALSE(IsDenseAt("vi * vj"));
  EXPECT_FALSE(IsDenseAt("vi // 2"));
  EXPECT_FALSE(IsDenseAt("vi * n"));
}

// Whatever it calls dense takes every value between its ends.
TEST(DenseTest, AgreesWithCounting) {
  int dense = 0;
  for (int a = -9; a <= 9; ++a) {
    for (int b = 0; b <= 6; ++b) {
      for (int width = 1; width <= 3; ++width) {
        const std::string index =
            absl::StrCat("200 + vi * ", a, " + vj * ", b, " + vk");
        if (!IsDenseAt(index, width)) continue;
        ++dense;
        std::set<int> seen;
        for (int i = 0; i < 4 * 6 * 5 * width; ++i) {
          const int at = i / width;
          seen.insert(at / 30 * a + at / 5 % 6 * b + at % 5 + i % width);
        }
        EXPECT_EQ(*seen.rbegin() - *seen.begin() + 1, std::ssize(seen))
            << index << " of width " << width;
      }
    }
  }
  EXPECT_GT(dense, 50);
}

}  // namespace
}  // namespace kiln
