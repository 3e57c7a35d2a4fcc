#include "kiln/search/space/rule/strassen_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

// One level of Strassen's method on a product of 64 x 64 x 256.
Schedule Halved() {
  const Module module = *MakeWorkload("gmm:64,64,256:normwise");
  std::vector<Schedule> made = ApplyRule(StrassenProducts, module, "Z");
  EXPECT_EQ(made.size(), 2u);
  return made.back();
}

TEST(StrassenPartsTest, KnowsWhoMakesOperandsAndWhoJoinsResults) {
  const Schedule sch = Halved();
  const Function& f = *sch.state().functions[0];
  const auto z = DescribeBlock(f, "Z");
  ASSERT_TRUE(z);
  EXPECT_EQ(MakerOf(f, *z, z->reads[0]), "X_sums");
  EXPECT_EQ(MakerOf(f, *z, z->reads[1]), "Y_sums");
  const auto joining = JoiningOf(f, *z);
  ASSERT_TRUE(joining);
  EXPECT_EQ(joining->block.name, "Z_join");
  EXPECT_THAT(joining->parts, ElementsAre(0));
}

TEST(StrassenPartsTest, OtherBlocksMakeAndJoinNothing) {
  const Module module = *MakeWorkload("cbr:8,8,16,16,3,1,1");
  const Function& f = module.functions[0];
  for (const std::string& name : RootBlocks(f)) {
    const auto info = DescribeBlock(f, name);
    if (!info) continue;
    EXPECT_FALSE(JoiningOf(f, *info)) << name;
    for (const ReadInfo& read : info->reads) {
      EXPECT_FALSE(MakerOf(f, *info, read)) << name;
    }
  }
}

TEST(StrassenPartsTest, AColumnIsNoPart) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((32, 64, 16), "float32"), W: T.Buffer((64, 16), "float32"),
         D: T.Buffer((32, 2), "float32")):
    Z = T.alloc_buffer((32, 16), "float32")
    for i, j, k in T.grid(32, 16, 64):
        with T.block("Z"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Z[vi, vj] = T.float32(0)
            Z[vi, vj] = Z[vi, vj] + X[vi, vk, vj] * W[vk, vj]
    for i, q in T.grid(32, 2):
        with T.block("D"):
            vi, vq = T.axis.remap("SS", [i, q])
            T.block_attr({"kiln.strassen_parts": True})
            D[vi, vq] = T.if_then_else(vq == 0, Z[vi, 0] + Z[vi, 15], Z[vi, 7] - Z[vi, 8])
)");
  const Function& f = module.functions[0];
  const auto z = DescribeBlock(f, "Z");
  ASSERT_TRUE(z);
  EXPECT_FALSE(JoiningOf(f, *z));
  ExpectSameMeaning(module, ApplyRules(module, CpuRules(), RuleContext{}), 1);
}

TEST(StrassenPartsTest, ANestedBlockOfTheSameNameIsAnother) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((2, 32), "float32"), D: T.Buffer((32,), "float32"),
         E: T.Buffer((1,), "float32")):
    Z = T.alloc_buffer((2, 32), "float32")
    with T.block("outer"):
        T.reads()
        T.writes(E[0])
        with T.block("Z"):
            T.reads()
            T.writes()
            E[0] = T.float32(1)
    for p, j, k in T.grid(2, 32, 4):
        with T.block("Z"):
            vp, vj, vk = T.axis.remap("SSR", [p, j, k])
            with T.init():
                Z[vp, vj] = T.float32(0)
            Z[vp, vj] = Z[vp, vj] + X[vp, vj]
    for q, j in T.grid(2, 16):
        with T.block("D"):
            vq, vj = T.axis.remap("SS", [q, j])
            T.block_attr({"kiln.strassen_parts": True})
            D[vq * 16 + vj] = T.if_then_else(vq == 0, Z[0, vj] + Z[1, vj], Z[0, vj])
)");
  const Function& f = module.functions[0];
  const auto z = DescribeBlock(f, "Z");
  ASSERT_TRUE(z);
  EXPECT_TRUE(JoiningOf(f, *z));
}

TEST(StrassenPartsTest, BlocksOfTheSameFormThatNobodyMarkedAreLeftAlone) {
  Schedule sch = Halved();
  for (const char* name : {"X_sums", "Y_sums", "Z_join"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Rv block, sch.GetBlock(name, "main"));
    KILN_ASSERT_OK(sch.Unannotate(block, kStrassenParts));
  }
  const Function& f = *sch.state().functions[0];
  const auto z = DescribeBlock(f, "Z");
  ASSERT_TRUE(z);
  EXPECT_FALSE(MakerOf(f, *z, z->reads[0]));
  EXPECT_FALSE(JoiningOf(f, *z));
}

TEST(StrassenPartsTest, ChoicesAreUnrolledAroundTheLanes) {
  Schedule sch = Halved();
  KILN_ASSERT_OK_AND_ASSIGN(const Rv sums, sch.GetBlock("X_sums", "main"));
  const auto info = DescribeBlock(*sch.state().functions[0], "X_sums");
  ASSERT_TRUE(info);
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Rv> outer,
                            OrderChoices(&sch, sums, info->axes, 8, 16));
  EXPECT_EQ(outer.size(), 2u);  // the batch, and groups of 8 rows
  const Function& f = *sch.state().functions[0];
  EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
  EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
  Module module;
  module.functions.push_back(f);
  KILN_EXPECT_OK(
      CheckCloseResults(MakeWorkload("gmm:64,64,256")->functions[0], f, 1));
}

TEST(StrassenPartsTest, TiledProductsMeanTheSameJoinedNearOrNot) {
  const Module module = *MakeWorkload("gmm:64,64,256:normwise");
  const Schedule halved = Halved();
  const std::vector<Schedule> made =
      RegisterTiling(halved, "Z", RuleContext{kAvx512Registers});
  EXPECT_GE(made.size(), 2u);
  int joined = 0;
  for (const Function& f : ExpectSameMeaning(module, made, 1)) {
    const bool is_joined = CountRootLoops(f) == 3;  // of two sums, and all else
    joined += is_joined;
    for (const BlockId join : BlocksNamed(f, "Z_join")) {
      const BlockNode& block = *FindBlock(f, join)->realize()->block;
      EXPECT_NE(IsMarked(block, kStrassenParts), is_joined);
    }
  }
  EXPECT_GE(joined, 1);
  EXPECT_LT(joined, std::ssize(made));
}

}  // namespace
}  // namespace kiln
