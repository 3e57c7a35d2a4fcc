// Grouped convolutions as text: of which an axis becomes two, what tiles of
// these compute, which stay as they are, and how weights are packed. Results
// are compared with those of the program as it was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;

using Extents = std::vector<int64_t>;

// 24 columns, or so many, in groups of $0, of which each reads $1 of the
// inputs; `last` is what becomes of a sum.
Module Groups(int outputs, int inputs, const std::string& last,
              const std::string& attrs = "", int columns = 24) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((9, 7, 96), "float32"), W: T.Buffer((3, $1, $4), "float32"), b: T.Buffer(($4,), "float32"), Y: T.Buffer((9, 5, $4), "float32")):
    $3
    C = T.alloc_buffer((9, 5, $4))
    for h, w, c, y, k in T.grid(9, 5, $4, 3, $1):
        with T.block("C"):
            vh, vw, vc, vy, vk = T.axis.remap("SSSRR", [h, w, c, y, k])
            with T.init():
                C[vh, vw, vc] = T.float32(0)
            C[vh, vw, vc] = C[vh, vw, vc] + A[vh, vw + vy, vc // $0 * $1 + vk] * W[vy, vk, vc]
    for h, w, c in T.grid(9, 5, $4):
        with T.block("Y"):
            vh, vw, vc = T.axis.remap("SSS", [h, w, c])
            Y[vh, vw, vc] = $2
)",
                                       outputs, inputs, last, attrs, columns));
}

constexpr char kBias[] = "T.max(C[vh, vw, vc] + b[vc], T.float32(0))";

// Of the first way, that with an axis of groups.
Extents AxesAfter(const Module& module, VectorRegisters registers) {
  RuleContext context;
  context.registers = registers;
  const auto made = ApplyRule(SplitGroups, module, "C", context);
  if (made.empty()) return {};
  ExpectSameMeaning(module, made);
  const auto info = DescribeBlock(*made[0].state().functions[0], "C");
  Extents extents;
  for (const AxisInfo& axis : info->axes) extents.push_back(axis.extent);
  return extents;
}

TEST(SplitGroupsTest, GroupsAreAnAxis) {
  EXPECT_EQ(AxesAfter(Groups(12, 5, kBias), kAvxRegisters),
            (Extents{9, 5, 2, 12, 3, 5}));
  EXPECT_EQ(AxesAfter(Groups(4, 2, kBias), kAvxRegisters),
            (Extents{9, 5, 6, 4, 3, 2}));
  EXPECT_EQ(AxesAfter(Groups(8, 8, kBias), kAvx512Registers),
            (Extents{9, 5, 3, 8, 3, 8}));
  EXPECT_EQ(AxesAfter(Groups(8, 8, kBias), kAvxRegisters),
            (Extents{9, 5, 3, 8, 3, 8}));
}

// Less than a vector each, which still beats a vector that reads each lane's
// input by itself: 14 x 14 pixels of 32 groups of two channels take a third.
TEST(SplitGroupsTest, GroupsOfTwoAndThreeAreAxesToo) {
  EXPECT_THAT(AxesAfter(Groups(2, 2, kBias), kAvxRegisters),
              ElementsAre(9, 5, 12, 2, 3, 2));
  EXPECT_THAT(AxesAfter(Groups(3, 2, kBias), kAvxRegisters),
              ElementsAre(9, 5, 8, 3, 3, 2));
}

size_t Ways(const Module& module, VectorRegisters registers) {
  RuleContext context;
  context.registers = registers;
  return ApplyRule(SplitGroups, module, "C", context).size();
}

TEST(SplitGroupsTest, WholeGroupsMayFillAVector) {
  EXPECT_EQ(Ways(Groups(4, 4, kBias), kAvx512Registers), 2);
  EXPECT_EQ(Ways(Groups(4, 4, kBias), kAvxRegisters), 2);
  EXPECT_EQ(Ways(Groups(8, 8, kBias), kAvx512Registers), 1) << "only two";
  EXPECT_EQ(Ways(Groups(4, 4, kBias), kSseRegisters), 1) << "one fills it";
  EXPECT_EQ(Ways(Groups(12, 12, kBias), kAvx512Registers), 1)
      << "vectors over the borders of groups";
  EXPECT_EQ(Ways(Groups(4, 2, kBias), kAvx512Registers), 1)
      << "inputs that are nearer to each other than outputs";
}

TEST(SplitGroupsTest, OthersStay) {
  EXPECT_EQ(AxesAfter(Groups(24, 8, kBias), kAvxRegisters), Extents())
      << "one group";
  EXPECT_EQ(AxesAfter(Groups(1, 2, kBias), kAvxRegisters), Extents())
      << "a channel each";
  EXPECT_EQ(AxesAfter(Groups(12, 5, "C[vh, vw, 23 - vc]"), kAvxRegisters),
            Extents())
      << "another order";
}

// A vector loads the inputs of several channels and spreads them.
TEST(SplitGroupsTest, InputsThatSomeChannelsShareOneByOneStay) {
  const auto module = [](int multiplier) {
    return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((5, 24), "float32"), W: T.Buffer((3, $1), "float32"), C: T.Buffer((3, $1), "float32")):
    for w, c, x in T.grid(3, $1, 3):
        with T.block("C"):
            vw, vc, vx = T.axis.remap("SSR", [w, c, x])
            with T.init():
                C[vw, vc] = T.float32(0)
            C[vw, vc] = C[vw, vc] + A[vw + vx, vc // $0] * W[vx, vc]
)",
                                         multiplier, 24 * multiplier));
  };
  EXPECT_EQ(Ways(module(2), kAvx512Registers), 0);
  EXPECT_EQ(Ways(module(8), kAvx512Registers), 0);
  EXPECT_EQ(Ways(module(16), kAvx512Registers), 1) << "one for all lanes";
}

constexpr char kConstant[] = "T.func_attr({\"layout_free_buffers\": [1]})";

// Whether weights are packed, in each kind of schedule that is made.
std::set<bool> Packs(const Module& module) {
  RuleContext context;
  context.registers = kAvxRegisters;
  const auto made = ApplyRules(
      module, RulesNamed({"split-groups", "register-tiling"}), context);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 2);
  }
  std::set<bool> packs;
  for (const Schedule& sch : made) {
    packs.insert(absl::StrContains(ToText(sch.trace()), "cache_read"));
  }
  return packs;
}

TEST(SplitGroupsTest, PanelsHoldColumnsOfOneGroup) {
  EXPECT_THAT(Packs(Groups(16, 5, kBias, "", 48)), ElementsAre(false, true));
  EXPECT_THAT(Packs(Groups(16, 5, kBias, kConstant, 48)), ElementsAre(true));
  EXPECT_THAT(Packs(Groups(40, 5, kBias, kConstant, 80)), ElementsAre(true))
      << "five vectors wide";
}

// Not before each panel: the copy goes over whole rows of the group's columns.
TEST(SplitGroupsTest, PanelsOfAnIterationArePackedTogether) {
  RuleContext context;
  context.registers = kAvxRegisters;
  int packed = 0;
  for (const Schedule& sch :
       ApplyRules(Groups(16, 5, kBias, "", 48),
                  RulesNamed({"split-groups", "register-tiling"}), context)) {
    const std::string trace = ToText(sch.trace());
    if (!absl::StrContains(trace, "cache_read")) continue;
    EXPECT_TRUE(absl::StrContains(trace, "sch.compute_at"));
    EXPECT_FALSE(absl::StrContains(trace, "preserve_unit_loops=False"));
    ++packed;
  }
  EXPECT_GT(packed, 0);
}

TEST(SplitGroupsTest, GroupsOfPartsOfLinesAreReadAsTheyLie) {
  EXPECT_THAT(Packs(Groups(12, 5, kBias)), ElementsAre(false));
  EXPECT_THAT(Packs(Groups(12, 5, kBias, kConstant)), ElementsAre(false));
}

}  // namespace
}  // namespace kiln
