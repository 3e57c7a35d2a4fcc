#include "kiln/examples/models/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

const Window kSame = {.kernel = 3, .pad = 1};

Value ImageOf(Network& net) { return net.Floats("image", {1, 4, 8, 8}); }

// The steps of the group that gives a value.
const Group* GroupThatGives(const std::vector<Group>& groups, Value x) {
  for (const Group& group : groups) {
    if (group.result == x.id) return &group;
  }
  return nullptr;
}

TEST(FusionTest, WhatFollowsAConvolutionIsOneGroup) {
  Network net("n");
  const Value x = ImageOf(net);
  const Value a = net.Conv(x, "a", 4, kSame);
  const Value normed = net.BatchNorm(a, "norm");
  const Value sum = net.Add(normed, x);
  const Value y = net.Relu(sum);
  net.Output(y);
  const std::vector<Group> groups = GroupsOf(net);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].anchor, a.id);
  EXPECT_EQ(groups[0].batch_norm, normed.id);
  EXPECT_EQ(groups[0].result, y.id);
  ASSERT_EQ(groups[0].steps.size(), 2u);
  EXPECT_EQ(groups[0].steps[0].addend, x.id);
  EXPECT_EQ(groups[0].steps[1].addend, -1);
}

TEST(FusionTest, AValueThatSeveralReadOrTheNetworkGivesEndsAGroup) {
  Network net("n");
  const Value x = ImageOf(net);
  const Value a = net.Conv(x, "a", 4, kSame);
  const Value relu = net.Relu(a);
  net.Output(net.Add(a, relu));
  net.Output(relu);
  const std::vector<Group> groups = GroupsOf(net);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_TRUE(GroupThatGives(groups, a)->steps.empty());
  EXPECT_TRUE(GroupThatGives(groups, relu)->steps.empty());
}

TEST(FusionTest, OfTwoConvolutionsOneTakesTheSum) {
  Network net("n");
  const Value x = ImageOf(net);
  const Value a = net.Conv(x, "a", 4, kSame), b = net.Conv(x, "b", 4, kSame);
  const Value sum = net.Add(a, b);
  net.Output(sum);
  const std::vector<Group> groups = GroupsOf(net);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].result, b.id);
  EXPECT_EQ(groups[1].anchor, a.id);
  EXPECT_EQ(groups[1].steps[0].addend, b.id);
}

TEST(FusionTest, ASecondSumIsNotFused) {
  Network net("n");
  const Value x = ImageOf(net);
  const Value sum = net.Add(net.Conv(x, "a", 4, kSame), x);
  net.Output(net.Add(sum, x));
  EXPECT_EQ(GroupsOf(net).size(), 2u);
}

TEST(FusionTest, ABatchNormBehindSomethingElseIsAGroupOfItsOwn) {
  Network net("n");
  const Value x = ImageOf(net);
  const Value normed = net.BatchNorm(net.Relu(net.Conv(x, "a", 4, kSame)), "b");
  net.Output(normed);
  const std::vector<Group> groups = GroupsOf(net);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[1].anchor, normed.id);
}

// Every node but inputs is the anchor, the batch norm or a step of one group,
// and what a group reads stands ahead of it.
void ExpectComplete(const Network& net) {
  std::multiset<int> covered;
  std::set<int> ready;
  for (size_t i = 0; i < net.nodes().size(); ++i) {
    if (!std::holds_alternative<layer::Input>(net.nodes()[i].layer)) continue;
    ready.insert(static_cast<int>(i));
    covered.insert(static_cast<int>(i));
  }
  for (const Group& group : GroupsOf(net)) {
    for (const int operand : group.Operands(net)) {
      EXPECT_TRUE(ready.count(operand)) << net.name() << " " << operand;
    }
    ready.insert(group.result);
    covered.insert(group.anchor);
    if (group.batch_norm >= 0) covered.insert(group.batch_norm);
    for (const Group::Step& step : group.steps) covered.insert(step.node);
  }
  for (size_t i = 0; i < net.nodes().size(); ++i) {
    EXPECT_EQ(covered.count(static_cast<int>(i)), 1u) << net.name() << " " << i;
  }
}

TEST(FusionTest, NetworksAreCoveredInOrder) {
  ExpectComplete(ResNet({}));
  ExpectComplete(MobileNet({}));
  ExpectComplete(Encoder({.layers = 2}));
  ExpectComplete(Decoder({.layers = 2}));
  ExpectComplete(UNet({}));
  ExpectComplete(UNet({.resizes = true}));
}

TEST(FusionTest, NoBatchNormOfTheNetworksIsLeft) {
  for (const Network& net : {ResNet({}), MobileNet({}), UNet({})}) {
    for (const Group& group : GroupsOf(net)) {
      EXPECT_FALSE(std::holds_alternative<layer::BatchNorm>(
          net.nodes()[group.anchor].layer));
    }
  }
}

}  // namespace
}  // namespace kiln::models
