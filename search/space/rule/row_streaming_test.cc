// Products of few rows: how many loops of which kind their schedules have, and
// of which sizes their tiles are. Every schedule that is looked at is
// interpreted beside the product as it was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/machine.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// The loops of a product's first schedule, checked, of a kind.
int CountOf(const std::string& shape, ForKind kind) {
  const Module module = *MakeWorkload(absl::StrCat("gmm:", shape));
  const auto made = ApplyRule(RowStreaming, module, "Z");
  EXPECT_GE(made.size(), 2u) << shape;
  if (made.empty()) return -1;
  const auto programs = ExpectSameMeaning(module, {made[0]}, 1);
  return programs.empty() ? -1 : CountLoops(programs[0], kind);
}

TEST(RowStreamingTest, FewRowsTimesALargeMatrixReadItsRowsInOrder) {
  for (const char* shape : {"1,1024,512", "1,1000,513", "3,700,500"}) {
    EXPECT_EQ(CountOf(shape, ForKind::kParallel), 1) << shape;
    EXPECT_EQ(CountOf(shape, ForKind::kVectorized), 4) << shape;
  }
}

// Nine rows and more are copied first, and their sums after.
TEST(RowStreamingTest, SomeRowsArePutNextToEachOther) {
  EXPECT_EQ(CountOf("16,640,512", ForKind::kVectorized), 6);
  EXPECT_EQ(CountOf("18,601,440", ForKind::kVectorized), 5) << "only the rows";
  EXPECT_EQ(CountOf("18,601,439", ForKind::kVectorized), 5) << "a prime";
}

int64_t LongestUnrolledLoop(const Function& f) {
  int64_t longest = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (!loop || loop->for_kind != ForKind::kUnrolled) return true;
    if (const int64_t* extent = AsInt(loop->extent)) {
      longest = std::max(longest, *extent);
    }
    return true;
  });
  return longest;
}

// 19 rows are tiles of 7, 7 and 5, and 11 are one; a prime number of steps is
// eights and a shorter last one.
TEST(RowStreamingTest, PrimesHaveASmallerLastTile) {
  for (const auto& [shape, rows] : std::vector<std::pair<std::string, int>>{
           {"11,640,512", 11}, {"19,601,440", 7}, {"13,640,439", 7}}) {
    const Module module = *MakeWorkload(absl::StrCat("gmm:", shape));
    const auto made = ApplyRule(RowStreaming, module, "Z");
    ASSERT_FALSE(made.empty()) << shape;
    for (const Function& f : ExpectSameMeaning(module, {made[0]}, 1)) {
      EXPECT_EQ(LongestUnrolledLoop(f), rows) << shape;
    }
  }
}

// The schedules of a product of a sum of 525 steps, seven at a time, of which
// the last one is for other rules. Checked.
std::vector<Schedule> SchedulesOf(int rows, const VectorRegisters& registers) {
  const Module module = *MakeWorkload(absl::StrCat("gmm:", rows, ",2048,525"));
  RuleContext context;
  context.registers = registers;
  auto made = ApplyRule(RowStreaming, module, "Z", context);
  EXPECT_FALSE(made.empty()) << rows;
  if (!made.empty()) made.pop_back();
  EXPECT_EQ(ExpectSameMeaning(module, made, 1).size(), made.size()) << rows;
  return made;
}

bool HasSplitBy(const Schedule& sch, int factor) {
  return absl::StrContains(ToText(sch.trace()),
                           absl::StrCat("factors=[None, ", factor, "]"));
}

TEST(RowStreamingTest, EightRowsAreOneTallTile) {
  const auto made = SchedulesOf(8, kAvx512Registers);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(HasSplitBy(made[0], 8)) << "rows";
  EXPECT_TRUE(HasSplitBy(made[0], 2)) << "vectors";
}

TEST(RowStreamingTest, OtherRowsAreTilesOfEitherShape) {
  const auto made = SchedulesOf(16, kAvx512Registers);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_TRUE(HasSplitBy(made[0], 6));
  EXPECT_FALSE(HasSplitBy(made[0], 8));
  EXPECT_TRUE(HasSplitBy(made[1], 8));
  EXPECT_EQ(SchedulesOf(4, kAvx512Registers).size(), 2u);
}

TEST(RowStreamingTest, ColumnsThatTallTilesDoNotDivideHaveWideOnes) {
  for (const char* shape : {"12,2052,525", "16,2052,525"}) {
    const Module module = *MakeWorkload(absl::StrCat("gmm:", shape));
    const auto made = ApplyRule(RowStreaming, module, "Z");
    ASSERT_EQ(made.size(), 2u) << shape;
    EXPECT_TRUE(HasSplitBy(made[0], 6)) << shape;
  }
}

TEST(RowStreamingTest, OneRowAndFewRegistersHaveOneShape) {
  EXPECT_EQ(SchedulesOf(1, kAvx512Registers).size(), 1u);
  for (const int rows : {4, 8, 16}) {
    EXPECT_EQ(SchedulesOf(rows, kAvxRegisters).size(), 1u) << rows;
  }
}

// relu(x B + bias), and two vectors with a matrix each.
TEST(RowStreamingTest, ConsumersAndBatches) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((2, 1, 300), "float32"), B: T.Buffer((2, 300, 1000), "float32"), D: T.Buffer((1000,), "float32"), C: T.Buffer((2, 1, 1000), "float32")):
    Y = T.alloc_buffer((2, 1, 1000))
    for b, i, j, k in T.grid(2, 1, 1000, 300):
        with T.block("Y"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                Y[vb, vi, vj] = T.float32(0)
            Y[vb, vi, vj] = Y[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]
    for b, i, j in T.grid(2, 1, 1000):
        with T.block("C"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            C[vb, vi, vj] = T.max(Y[vb, vi, vj] + D[vj], T.float32(0))
)");
  const auto made = ApplyRule(RowStreaming, module, "Y");
  ASSERT_EQ(made.size(), 1u) << "and no register tile";
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountRootLoops(f), 1);
  }
}

// Fifteen sequences of one token each: tiles are of several sequences.
TEST(RowStreamingTest, TilesGoAlongTheLongestAxisOfRows) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((15, 1, 520), "float32"), B: T.Buffer((520, 512), "float32"), C: T.Buffer((15, 1, 512), "float32")):
    for b, i, j, k in T.grid(15, 1, 512, 520):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vk, vj]
)");
  const auto made = ApplyRule(RowStreaming, module, "C");
  ASSERT_EQ(made.size(), 3u) << "of two shapes";
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("factors=[None, 5]"));
  EXPECT_THAT(ToText(made[1].trace()), HasSubstr("factors=[None, 8]"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(ExpectSameMeaning(module, {made[i]}, 1).empty());
  }
}

// A convolution of a few pixels has reductions of one step before the last.
TEST(RowStreamingTest, ConvolutionsOfAFewPixelsAreProductsOfAFewRows) {
  const Module module = *MakeWorkload("c2d:2,2,512,520,1,1,0");
  const auto made = ApplyRule(RowStreaming, module, "conv2d_nhwc");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_FALSE(ExpectSameMeaning(module, {made[0]}, 1).empty());
}

// Each phase of a transposed convolution goes over its own taps: its 12 pixels
// are the rows, and not all of the 48.
TEST(RowStreamingTest, PhasesOfTransposedConvolutionsReadTheirTapsOnce) {
  const Module module = *MakeWorkload("t2d:6,2,256,128,3,2,1");
  const auto made = ApplyRules(
      module, RulesNamed({"auto-inline", "polyphase", "row-streaming"}),
      RuleContext());
  ASSERT_EQ(made.size(), 4u) << "both in parallel, and both on one thread";
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.rfactor"));
  EXPECT_FALSE(ExpectSameMeaning(module, {made[0]}, 1).empty());
}

TEST(RowStreamingTest, ManyRowsSmallMatricesAndNarrowOnesAreLeftAlone) {
  for (const char* shape :
       {"33,1024,512", "1,256,512", "1,64,8192", "512,512,512"}) {
    EXPECT_TRUE(
        ApplyRule(RowStreaming, *MakeWorkload(absl::StrCat("gmm:", shape)), "Z")
            .empty())
        << shape;
  }
  EXPECT_TRUE(
      ApplyRule(RowStreaming, *MakeWorkload("nrm:1024,1024"), "C").empty());
}

}  // namespace
}  // namespace kiln
