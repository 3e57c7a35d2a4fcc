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

// conv2d -> relu -> depthwise -> relu
std::vector<FlowNode> Windowed() {
  std::vector<FlowNode> nodes = {
      Node(Pattern::kFusableReduction, {{1, Pattern::kElementwise}}),
      Node(Pattern::kElementwise, {{2, Pattern::kFusableReduction}}),
      Node(Pattern::kFusableReduction, {{3, Pattern::kElementwise}}),
      Node(Pattern::kElementwise, {})};
  nodes[1].is_large = true;
  nodes[2].is_window = true;
  return nodes;
}

TEST(FusionGroupsTest, WindowsTakeInWhatMakesLargeValues) {
  const std::vector<int> groups = FusionGroups(Windowed(), 256);
  for (const int group : groups) EXPECT_EQ(group, groups[0]);
}

TEST(FusionGroupsTest, WindowsOverSmallOrSharedValuesStayApart) {
  std::vector<FlowNode> small = Windowed(), shared = Windowed();
  small[1].is_large = false;
  shared[1].is_needed_outside = true;
  for (const auto& nodes : {small, shared}) {
    const std::vector<int> groups = FusionGroups(nodes, 256);
    EXPECT_EQ(groups[0], groups[1]);
    EXPECT_NE(groups[1], groups[2]);
    EXPECT_EQ(groups[2], groups[3]);
  }
}

// One window for each kernel, and no more calls than may be.
TEST(FusionGroupsTest, WindowsAfterWindowsStayApart) {
  std::vector<FlowNode> nodes = Windowed();
  nodes[1] = Node(Pattern::kFusableReduction, nodes[1].uses);
  nodes[0].is_large = nodes[1].is_large = nodes[1].is_window = true;
  nodes[0].uses[0].pattern = Pattern::kFusableReduction;
  const std::vector<int> groups = FusionGroups(nodes, 256);
  EXPECT_EQ(groups[0], groups[1]);
  EXPECT_NE(groups[1], groups[2]);
  const std::vector<int> few = FusionGroups(Windowed(), 2);
  EXPECT_NE(few[1], few[2]);
}

}  // namespace
}  // namespace kiln
