#include <gtest/gtest.h>

#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

constexpr char kBlock[] = "conv2d_transpose_nhwc";

TEST(PolyphaseTest, OutputsAndTapsOfTransposedConvolutionsAreSplit) {
  for (const char* spec :
       {"t2d:4,4,6,18,4,2,1", "t2d:3,5,2,4,2,2,0", "t2d:3,3,2,8,6,3,0"}) {
    const Module module = *MakeWorkload(spec);
    const auto made = ApplyRule(Polyphase, module, kBlock);
    ASSERT_EQ(made.size(), 1u) << spec;
    ExpectSameMeaning(module, made);
  }
}

TEST(PolyphaseTest, OutputsAndTapsAreRoundedUpToWholePhases) {
  for (const char* spec :
       {"t2d:4,4,2,4,3,2,1", "t2d:3,4,2,4,5,2,2", "t2d:3,3,2,8,4,3,0",
        "t2d:3,3,2,8,2,3,0", "t2d:5,3,2,8,3,2,0"}) {
    const Module module = *MakeWorkload(spec);
    const auto made = ApplyRule(Polyphase, module, kBlock);
    ASSERT_EQ(made.size(), 1u) << spec;
    ExpectSameMeaning(module, made);
  }
}

TEST(PolyphaseTest, PaddingAloneHasNoPhases) {
  EXPECT_TRUE(
      ApplyRule(Polyphase, *MakeWorkload("t2d:4,4,2,4,3,1,1"), kBlock).empty());
  const Module conv = *MakeWorkload("c2d:8,8,4,8,3,2,1");
  EXPECT_TRUE(ApplyRule(Polyphase, conv, "PadInput").empty());
  EXPECT_TRUE(ApplyRule(Polyphase, conv, "conv2d_nhwc").empty());
}

}  // namespace
}  // namespace kiln
