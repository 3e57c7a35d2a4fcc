#include "kiln/ir/transform/graph/fusion_groups.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

using Pattern = OpPattern;

FlowNode Node(Pattern pattern, std::vector<FlowNode::Use> uses) {
  return {pattern, uses.empty(), std::move(uses)};
}

TEST(FusionGroupsTest, BranchesThatMeetAgainAreOneGroup) {
  const std::vector<int> groups = FusionGroups(
      {Node(Pattern::kFusableReduction,
            {{1, Pattern::kElementwise}, {2, Pattern::kElementwise}}),
       Node(Pattern::kElementwise, {{3, Pattern::kElementwise}}),
       Node(Pattern::kElementwise, {{3, Pattern::kElementwise}}),
       Node(Pattern::kElementwise, {})},
      256);
  for (const int group : groups) EXPECT_EQ(group, groups[0]);
}

TEST(FusionGroupsTest, TwoReductionsStayApart) {
  const std::vector<int> groups = FusionGroups(
      {Node(Pattern::kFusableReduction, {{1, Pattern::kFusableReduction}}),
       Node(Pattern::kFusableReduction, {})},
      256);
  EXPECT_NE(groups[0], groups[1]);
}

}  // namespace
}  // namespace kiln
