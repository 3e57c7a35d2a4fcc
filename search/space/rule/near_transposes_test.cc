#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<ScheduleRule> Rules() {
  const std::vector<ScheduleRule> rules =
      RulesNamed({"auto-inline", "register-tiling", "near-transposes"});
  return rules;
}

TEST(NearTransposesTest, OperandsOfHeadsMayBeTransposedHeadByHead) {
  const Module module = *MakeWorkload("tbg:18,5,35");
  const auto made = ApplyRules(module, Rules(), RuleContext());
  ASSERT_EQ(made.size(), 6u) << "three in parallel, three on one thread";
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.compute_at"));
  EXPECT_THAT(ToText(made[1].trace()), Not(HasSubstr("sch.compute_at")));
  for (const Function& f : ExpectSameMeaning(module, {made[0]})) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
  }
}

TEST(NearTransposesTest, OneProductHasNothingToDoBetween) {
  const Module module = *MakeWorkload("tbg:64,1,64");
  const auto made = ApplyRules(module, Rules(), RuleContext());
  ASSERT_FALSE(made.empty());
  for (const Schedule& one : made) {
    EXPECT_THAT(ToText(one.trace()), Not(HasSubstr("sch.compute_at")));
  }
}

TEST(NearTransposesTest, EachCoreMayTransposeWhatItMultiplies) {
  const Module module = *MakeWorkload("tbg:64,1,64");
  RuleContext two;
  two.cores = 2;
  const auto made = ApplyRules(module, Rules(), two);
  std::vector<Schedule> near;
  for (const Schedule& one : made) {
    if (ToText(one.trace()).find("sch.compute_at") != std::string::npos) {
      near.push_back(one);
    }
  }
  ASSERT_FALSE(near.empty());
  EXPECT_LT(near.size(), made.size()) << "or one for all";
  for (const Function& f : ExpectSameMeaning(module, near)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
  }
}

TEST(NearTransposesTest, WithoutAParallelConsumerNothingMoves) {
  const Module module = *MakeWorkload("tbg:64,8,64");
  EXPECT_TRUE(ApplyRule(NearTransposes, module, "value_T").empty());
}

}  // namespace
}  // namespace kiln
