#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Schedule> Tilings(const char* workload, const char* block) {
  return ApplyRule(RegisterTiling, *MakeWorkload(workload), block);
}

TEST(RegisterTilingTest, AProductReadsItsRightOperandInPlaceOrPacked) {
  const auto made = Tilings("gmm:19,37,23", "Z");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_THAT(ToText(made[0].trace()), Not(HasSubstr("cache_read")));
  EXPECT_THAT(ToText(made[1].trace()), HasSubstr("cache_read"));
  const auto programs = ExpectSameMeaning(*MakeWorkload("gmm:19,37,23"), made);
  for (const Function& f : programs) {
    EXPECT_GE(CountLoops(f, ForKind::kUnrolled), 2);
    EXPECT_GE(CountLoops(f, ForKind::kParallel), 1);
  }
}

// 20 rows use each of 600 x 600 elements: packing would take as long.
TEST(RegisterTilingTest, ALargeOperandOfFewRowsStaysAndIsReadOnce) {
  const auto made = Tilings("gmm:20,600,600", "Z");
  ASSERT_EQ(made.size(), 2u);
  for (const Schedule& one : made) {
    EXPECT_THAT(ToText(one.trace()), Not(HasSubstr("cache_read")));
  }
}

// The second of the two keeps its sums in the output, for blocks of rows of the
// large operand.
TEST(RegisterTilingTest, ALargeOperandMayBeReadFromBeginningToEnd) {
  const auto made = Tilings("gmm:2,1040,260", "Z");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("cache_write"));
  EXPECT_THAT(ToText(made[1].trace()), Not(HasSubstr("cache_write")));
  const Module module = *MakeWorkload("gmm:2,1040,260");
  EXPECT_FALSE(ExpectSameMeaning(module, {made[1]}, 1).empty());
}

TEST(RegisterTilingTest, ALargeOperandOfManyRowsIsPackedToo) {
  const auto made = Tilings("gmm:150,600,600", "Z");
  ASSERT_EQ(made.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(ToText(made[i].trace()), HasSubstr("cache_read"));
  }
}

// Panel by panel, in the loop over panels.
TEST(RegisterTilingTest, PanelsMayBePackedWhereTheyAreUsed) {
  const Module module = *MakeWorkload("gmm:33,100,2700");
  auto made = ApplyRule(RegisterTiling, module, "Z");
  ASSERT_GE(made.size(), 2u);
  made.erase(made.begin() + 1, made.end());
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.compute_at"));
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("cache_write"));
  EXPECT_FALSE(ExpectSameMeaning(module, made, 1).empty());
}

// High panels, in blocks of rows.
TEST(RegisterTilingTest, PartsOfPanelsMayBePackedWhereTheyAreUsed) {
  const Module module = *MakeWorkload("gmm:33,50,5600");
  auto made = ApplyRule(RegisterTiling, module, "Z");
  ASSERT_GE(made.size(), 2u);
  made.erase(made.begin() + 1, made.end());
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.compute_at"));
  EXPECT_FALSE(ExpectSameMeaning(module, made, 1).empty());
}

// All tiles of a choice are as wide as its panels, which are filled eight rows
// at a time.
TEST(RegisterTilingTest, PanelsAreAsWideAsTheTiles) {
  const auto made = Tilings("gmm:150,600,600", "Z");
  ASSERT_EQ(made.size(), 5u);
  for (size_t i = 0; i < 2; ++i) {
    const std::string text = ToText(made[i].trace());
    const std::string width = std::to_string(48 + 16 * i);
    EXPECT_THAT(text, HasSubstr("d2 // " + width)) << text;
    EXPECT_THAT(text, HasSubstr("d2 % " + width)) << text;
    EXPECT_THAT(text, HasSubstr("factors=[None, 8]")) << text;
  }
}

// Rows of capsules share the weights, columns do not.
TEST(RegisterTilingTest, TilesRunAlongAxesThatShareAnOperand) {
  const Module module = *MakeWorkload("cap:3,4,3,18,3,1,1");
  const auto made = ApplyRule(RegisterTiling, module, "conv2d_capsule_nhwijc");
  ASSERT_FALSE(made.empty());
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("20402"));
  ExpectSameMeaning(module, made);
}

TEST(RegisterTilingTest, FewStepsAreUnrolledAltogether) {
  const Module module = *MakeWorkload("dep:9,11,20,3,1,1");
  const auto made = ApplyRule(RegisterTiling, module, "depth_conv2d_nhwc");
  ASSERT_FALSE(made.empty());
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_GE(CountLoops(f, ForKind::kUnrolled), 4);
  }
}

TEST(RegisterTilingTest, WhatHasNoRowOfColumnsIsLeftAlone) {
  EXPECT_TRUE(Tilings("nrm:64,64", "C").empty());
  EXPECT_TRUE(Tilings("gmm:64,2,64", "Z").empty()) << "two columns";
  EXPECT_TRUE(Tilings("c2d:8,8,4,8,3,1,1", "PadInput").empty());
}

}  // namespace
}  // namespace kiln
