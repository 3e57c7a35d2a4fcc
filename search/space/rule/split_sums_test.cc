// Which products each core sums up a part of, and that the sums stay the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

RuleContext TwoCores() {
  RuleContext context;
  context.cores = 2;
  context.l2_bytes = 1 << 20;
  return context;
}

std::vector<Schedule> SplitOf(const std::string& workload,
                              const RuleContext& context) {
  return ApplyRule(SplitSums, *MakeWorkload(workload), "Z", context);
}

TEST(SplitSumsTest, EachCoreSumsUpWholeRowsOfTheMatrix) {
  for (const char* shape : {"1,512,512", "3,600,500", "1,512,1024"}) {
    const Module module = *MakeWorkload(absl::StrCat("gmm:", shape));
    const auto made = ApplyRule(SplitSums, module, "Z", TwoCores());
    ASSERT_EQ(made.size(), 2u) << shape;
    const auto programs = ExpectSameMeaning(module, {made[0]}, 1);
    ASSERT_EQ(programs.size(), 1u);
    const auto parts = DescribeBlock(programs[0], "Z_rf");
    ASSERT_TRUE(parts) << shape;
    EXPECT_EQ(parts->axes[0].extent, 2);
    EXPECT_FALSE(parts->is_for_tiles);
  }
}

// 513 is 27 times 19: three parts of 171, or nine of 57, one core's share of
// which is five.
TEST(SplitSumsTest, PartsDivideTheSum) {
  const Module module = *MakeWorkload("gmm:1,512,513");
  const auto made = ApplyRule(SplitSums, module, "Z", TwoCores());
  ASSERT_EQ(made.size(), 2u);
  for (const Function& f : ExpectSameMeaning(module, {made[0]}, 1)) {
    const auto parts = DescribeBlock(f, "Z_rf");
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->axes[0].extent, 9);
  }
}

TEST(SplitSumsTest, RowsOfPartsAreStreamedByEachCore) {
  const Module module = *MakeWorkload("gmm:1,512,1024");
  const auto made =
      ApplyRules(module,
                 {{"split-sums", RuleTarget::kCpu, SplitSums},
                  {"row-streaming", RuleTarget::kCpu, RowStreaming}},
                 TwoCores());
  ASSERT_GE(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, {made[0]}, 1)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 4);
  }
}

// The sums over both sides of the image.
TEST(SplitSumsTest, ColumnsOfWholeRowsAreSummedUpByEachCore) {
  const Module module = *MakeWorkload("avg:56,56,24,56,1,0");
  const auto made = ApplyRule(SplitSums, module, "total", TwoCores());
  ASSERT_EQ(made.size(), 2u);
  for (const Function& f : ExpectSameMeaning(module, {made[0]}, 1)) {
    const auto parts = DescribeBlock(f, "total_rf");
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->axes[0].extent, 2);
    EXPECT_EQ(parts->ReduceSize(), 28 * 56);
  }
}

TEST(SplitSumsTest, OtherColumnsAreLeftAlone) {
  const auto made = [](const std::string& workload) {
    return ApplyRule(SplitSums, *MakeWorkload(workload), "total", TwoCores());
  };
  EXPECT_TRUE(made("avg:56,56,16,56,1,0").empty()) << "is small";
  EXPECT_TRUE(made("avg:53,53,24,53,1,0").empty()) << "a prime";
  EXPECT_TRUE(made("avg:56,56,24,3,1,1").empty()) << "read several times";
}

TEST(SplitSumsTest, OtherProductsAreLeftAlone) {
  RuleContext one = TwoCores();
  one.cores = 1;
  EXPECT_TRUE(SplitOf("gmm:1,512,512", one).empty());
  RuleContext serial = TwoCores();
  serial.parallel = ParallelLoops::kNever;
  EXPECT_TRUE(SplitOf("gmm:1,512,512", serial).empty());
  EXPECT_TRUE(SplitOf("gmm:9,512,512", TwoCores()).empty()) << "rows";
  EXPECT_TRUE(SplitOf("gmm:1,512,521", TwoCores()).empty()) << "a prime";
  EXPECT_TRUE(SplitOf("gmm:1,64,512", TwoCores()).empty()) << "is small";
  EXPECT_TRUE(SplitOf("gmm:1,1024,1024", TwoCores()).empty()) << "is large";
  EXPECT_TRUE(SplitOf("gmm:1,512,1024:layout_free", TwoCores()).empty());
}

}  // namespace
}  // namespace kiln
