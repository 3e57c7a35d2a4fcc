#include <gtest/gtest.h>

#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

std::vector<Schedule> Inlined(const char* workload, const char* block) {
  return ApplyRule(AutoInline, *MakeWorkload(workload), block);
}

TEST(AutoInlineTest, ElementwiseBlocksGoIntoTheirConsumers) {
  const Module module = *MakeWorkload("cbr:6,6,2,4,3,1,1");
  const auto made = ApplyRule(AutoInline, module, "bn_mul");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made, 1)) {
    EXPECT_EQ(CountRootLoops(f), CountRootLoops(module.functions[0]) - 1);
  }
}

TEST(AutoInlineTest, PaddingMayGoOrStay) {
  const Module module = *MakeWorkload("c2d:6,6,2,4,3,1,1");
  const auto made = ApplyRule(AutoInline, module, "PadInput");
  ASSERT_EQ(made.size(), 2u);
  ExpectSameMeaning(module, made, 1);
}

TEST(AutoInlineTest, TransposesOfWhatIsSummedUpStay) {
  EXPECT_TRUE(Inlined("tbg:6,2,4", "value_T").empty());
  EXPECT_EQ(Inlined("tbg:6,2,4", "query_T").size(), 1u) << "in its own order";
}

TEST(AutoInlineTest, OutputsSumsAndExpensiveFunctionsStay) {
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "compute").empty());
  EXPECT_TRUE(Inlined("cbr:6,6,2,4,3,1,1", "Conv2dOutput").empty());
  EXPECT_TRUE(Inlined("sfm:8,16", "T_softmax_exp").empty());
}

}  // namespace
}  // namespace kiln
