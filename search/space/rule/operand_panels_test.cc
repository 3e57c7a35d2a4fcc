// Panels as the trace of a schedule names them: their layout for products,
// pairs of steps and groups, and what makes them.
#include "kiln/search/space/rule/operand_panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/paired_sums.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The trace that packs operand `index` of the block into panels of two vectors.
std::string TraceOfPacking(Schedule sch, const BlockInfo& info,
                           const TileAxes& axes, int index,
                           const RuleContext& context) {
  TilingChoice choice;
  choice.packed = info.reads[index];
  choice.vectors = 2;
  OperandPanels panels(info, axes, choice, context);
  const auto block = sch.GetBlock(info.name, FunctionOf(sch, context).name);
  KILN_EXPECT_OK(block.status());
  if (!block.ok()) return "";
  KILN_EXPECT_OK(panels.Pack(&sch, *block));
  KILN_EXPECT_OK(panels.Mark(&sch));
  return ToText(sch.trace());
}

std::string TraceFor(const char* workload, const std::string& block,
                     const RuleContext& context = {}) {
  const Schedule sch(*MakeWorkload(workload));
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  const auto axes = ChooseTileAxes(*info);
  return TraceOfPacking(sch, *info, *axes, 1, context);
}

TEST(OperandPanelsTest, StepsOfASumFollowEachOther) {
  const std::string trace = TraceFor("gmm:19,40,22", "Z");
  EXPECT_THAT(trace, HasSubstr("(d2 // 32, d0, d1, d2 % 32,)"));
  EXPECT_THAT(trace, HasSubstr("sch.parallel"));
  EXPECT_THAT(TraceFor("c2d:8,8,6,48,3,1,1", "conv2d_nhwc"),
              HasSubstr("(d3 // 32, d0, d1, d2, d3 % 32,)"));
}

// Two vectors of 16 bytes hold four columns of two steps each.
TEST(OperandPanelsTest, PairsLieBesideEachOther) {
  RuleContext sse;
  sse.registers = kSseRegisters;
  const Schedule sch(*MakeWorkload("gmm:19,40,22"));
  const auto info = DescribeBlock(FunctionOf(sch, sse), "Z");
  const auto pairs = PairSums(sch, *info, *ChooseTileAxes(*info), sse);
  ASSERT_TRUE(pairs.has_value());
  EXPECT_THAT(TraceOfPacking(pairs->schedule, pairs->info, pairs->axes, 1, sse),
              HasSubstr("(d2 // 4, d0, d1 // 2, d2 % 4, d1 % 2,)"));
}

TEST(OperandPanelsTest, ConstantsAreMarkedAsPreparedAhead) {
  constexpr char kMark[] = "meta_schedule.layout";
  EXPECT_THAT(TraceFor("gmm:19,40,22:layout_free", "Z"), HasSubstr(kMark));
  EXPECT_THAT(TraceFor("gmm:19,40,22", "Z"), Not(HasSubstr(kMark)));
}

}  // namespace
}  // namespace kiln
