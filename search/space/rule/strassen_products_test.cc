#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// How many products of parts each schedule has: 1, 7, 49.
std::vector<int64_t> CountProducts(const std::vector<Schedule>& made) {
  std::vector<int64_t> counts;
  for (const Schedule& sch : made) {
    int64_t count = 1;
    for (const Instruction& step : sch.trace().instructions) {
      if (step.kind->name == "strassen") count *= 7;
    }
    counts.push_back(count);
  }
  return counts;
}

TEST(StrassenProductsTest, LargeProductsInSeveralLevels) {
  const struct {
    const char* spec;
    std::vector<int64_t> products;
  } kCases[] = {{"gmm:128,128,512:normwise", {1, 7, 49}},
                {"gmm:2,128,128,512:normwise", {1, 7, 49}},
                {"gmm:64,128,512:normwise", {1, 7}},
                {"gmm:64,64,256:layout_free:normwise", {1, 7}},
                {"gmm:64,62,256:normwise", {}},
                {"gmm:64,64,254:normwise", {}},
                {"gmm:65,64,256:normwise", {}}};
  for (const auto& one : kCases) {
    const auto made = ApplyRule(StrassenProducts, *MakeWorkload(one.spec), "Z");
    EXPECT_EQ(CountProducts(made), one.products) << one.spec;
  }
}

TEST(StrassenProductsTest, MeanTheSame) {
  const Module module = *MakeWorkload("gmm:64,64,256:normwise");
  ExpectSameMeaning(module, ApplyRule(StrassenProducts, module, "Z"), 1);
}

TEST(StrassenProductsTest, OnlyWithLeave) {
  EXPECT_TRUE(ApplyRule(StrassenProducts, *MakeWorkload("gmm:128,128,512"), "Z")
                  .empty());
}

TEST(StrassenProductsTest, SumsOfConstantsAreTakenAhead) {
  const Module module = *MakeWorkload("gmm:64,64,256:layout_free:normwise");
  const auto made = ApplyRule(StrassenProducts, module, "Z");
  ASSERT_EQ(made.size(), 2u);
  const Function& f = *made[1].state().functions[0];
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(f));
  EXPECT_EQ(BlocksNamed(split.prepare, "Y_sums").size(), 1u);
  EXPECT_EQ(BlocksNamed(split.main, "Y_sums").size(), 0u);
  EXPECT_EQ(BlocksNamed(split.main, "X_sums").size(), 1u);
}

TEST(StrassenProductsTest, ConvolutionsOfManyPicturesAndOnePixelTaps) {
  for (const char* spec :
       {"c2d:64,4,256,64,1,1,0:normwise", "c1d:64,256,64,1,1,0:normwise"}) {
    const Module module = *MakeWorkload(spec);
    const std::string block = spec[1] == '2' ? "conv2d_nhwc" : "conv1d_nlc";
    const std::vector<Schedule> inlined =
        ApplyRule(AutoInline, module, "PadInput");
    const std::vector<Schedule> made =
        inlined.empty() ? ApplyRule(StrassenProducts, module, block)
                        : StrassenProducts(inlined[0], block,
                                           RuleContext{kAvx512Registers});
    EXPECT_EQ(CountProducts(made).size(), 2u) << spec;
  }
}

}  // namespace
}  // namespace kiln
