#include "kiln/schedule/analysis/predicate_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

// What `condition` leaves of A[index] for the loops i in [0, 4), j in [0, 8)
// and k in [0, 3): cuts and the condition on loops outside of `depth`.
std::string LimitsText(const std::string& index, const std::string& condition,
                       size_t depth) {
  const Function f = *ParseFunction(
      "test", absl::StrCat("@T.prim_func\n"
                           "def main(A: T.Buffer((64,), \"float32\")):\n"
                           "    for i, j, k in T.grid(4, 8, 3):\n"
                           "        with T.block(\"A\"):\n"
                           "            v = T.axis.spatial(64, ",
                           index, ")\n            vk = T.axis.reduce(3, k)\n",
                           "            T.where(", condition, ")\n",
                           "            with T.init():\n"
                           "                A[v] = T.float32(0)\n"
                           "            A[v] = A[v] + T.float32(1)\n"));
  const Path path = *FindBlock(f, BlocksNamed(f, "A").at(0));
  const Scope scope(*path.scope()->block);
  const ScopeBlock& block = scope.blocks[0];
  const PredicateBounds limits = PredicateBoundsOf(
      block, InLoopVariables(block, block.block().writes[0]), depth);
  if (!limits.complete) return "?";
  std::string text;
  for (const PredicateBound& cut : limits.cuts) {
    absl::StrAppend(
        &text,
        cut.end ? "to " + PrintExpr(cut.end) : "from " + PrintExpr(cut.begin),
        ", ");
  }
  return text + "if " + PrintExpr(limits.runs);
}

TEST(PredicateBoundsTest, EndsOfSplitLoops) {
  EXPECT_EQ(LimitsText("i * 8 + j", "i * 8 + j < 30", 0),
            "to 30, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "i < 3", 0), "to 24, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "i * 8 + j >= 3", 0),
            "from 3, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "2 < i", 0), "from 24, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "i * 24 + j * 3 < 31", 0),
            "to 11, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "i * 24 + j * 3 > 31", 0),
            "from 11, if T.bool(True)");
  EXPECT_EQ(LimitsText("31 - i * 8 - j", "i * 8 + j < 30", 0),
            "from 2, if T.bool(True)");
}

TEST(PredicateBoundsTest, WhatOuterLoopsDecide) {
  EXPECT_EQ(LimitsText("i * 8 + j", "i != 2", 1), "if i != 2");
  EXPECT_EQ(LimitsText("i * 8 + j", "j < 5 - i and i < 3", 1),
            "to i * 7 + 5, if i < 3");
}

TEST(PredicateBoundsTest, RepetitionsCountOnce) {
  EXPECT_EQ(LimitsText("i * 8 + j", "i * 8 + j + k < 30", 0),
            "to 30, if T.bool(True)");
  EXPECT_EQ(LimitsText("i * 8 + j", "i + k < 3", 1), "if i < 3");
  EXPECT_EQ(LimitsText("i * 8 + j", "1 <= i + k", 0), "?");
}

TEST(PredicateBoundsTest, GapsAreNotCuts) {
  EXPECT_EQ(LimitsText("i * 8 + j", "j < 5", 0), "?");
  EXPECT_EQ(LimitsText("i * 8 + j", "j != 5", 0), "?");
  EXPECT_EQ(LimitsText("i * 8 + j", "j % 2 < 1", 0), "?");
  EXPECT_EQ(LimitsText("i + j", "i * 2 + j < 6", 0), "?");
}

}  // namespace
}  // namespace kiln
