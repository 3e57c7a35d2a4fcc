#include "kiln/ir/graph/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kiln::graph {
namespace {

TEST(SignatureTest, NamesOfOpsAndOfTheirPartsAreUnique) {
  std::set<std::string> ops;
  for (const OpSignature& op : Signatures()) {
    EXPECT_TRUE(ops.insert(op.name).second) << op.name;
    std::set<std::string> names(op.args.begin(), op.args.end());
    EXPECT_EQ(names.size(), op.args.size()) << op.name;
    for (const AttributeSignature& attr : op.attrs) {
      EXPECT_TRUE(names.insert(attr.name).second) << op.name;
    }
  }
  EXPECT_GT(ops.size(), 150u);
}

TEST(SignatureTest, DefaultsMayHoldCommas) {
  const OpSignature* pool = FindSignature("nn.max_pool2d");
  ASSERT_NE(pool, nullptr);
  EXPECT_THAT(pool->args, ::testing::ElementsAre("data"));
  EXPECT_EQ(pool->FindAttribute("strides")->default_text, "[1, 1]");
  EXPECT_EQ(pool->FindAttribute("layout")->default_text, "\"NCHW\"");
  EXPECT_EQ(pool->FindAttribute("stride"), nullptr);
}

TEST(SignatureTest, UnknownOpsHaveNone) {
  EXPECT_EQ(FindSignature("nn"), nullptr);
  EXPECT_EQ(FindSignature("zzz"), nullptr);
  EXPECT_TRUE(FindSignature("print")->TakesMore());
}

}  // namespace
}  // namespace kiln::graph
