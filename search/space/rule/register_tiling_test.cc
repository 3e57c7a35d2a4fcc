#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Schedule> Tilings(const char* workload, const char* block) {
  return ApplyRule(RegisterTiling, *MakeWorkload(workload), block);
}

TEST(RegisterTilingTest, AProductReadsItsRightOperandInPlaceOrPacked) {
  const auto made = Tilings("gmm:19,37,23", "Z");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_THAT(ToText(made[0].trace()), Not(HasSubstr("cache_read")));
  EXPECT_THAT(ToText(made[1].trace()), HasSubstr("cache_read"));
  const auto programs = ExpectSameMeaning(*MakeWorkload("gmm:19,37,23"), made);
  for (const Function& f : programs) {
    EXPECT_GE(CountLoops(f, ForKind::kUnrolled), 2);
    EXPECT_GE(CountLoops(f, ForKind::kParallel), 1);
  }
}

// 20 rows use each of 600 x 600 elements: packing would take as long.
TEST(RegisterTilingTest, ALargeOperandOfFewRowsStays) {
  const auto made = Tilings("gmm:20,600,600", "Z");
  ASSERT_EQ(made.size(), 1u);
  EXPECT_THAT(ToText(made[0].trace()), Not(HasSubstr("cache_read")));
}

TEST(RegisterTilingTest, ALargeOperandOfManyRowsIsPackedToo) {
  const auto made = Tilings("gmm:150,600,600", "Z");
  ASSERT_EQ(made.size(), 5u);
  EXPECT_THAT(ToText(made[0].trace()), Not(HasSubstr("cache_read")));
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_THAT(ToText(made[i].trace()), HasSubstr("cache_read"));
  }
}

// Where its rows are used often enough, or keep each other out of the near
// caches: 600 of 4 KiB in the second level, 8 of 4104 bytes in the first.
TEST(RegisterTilingTest, ALargeOperandIsOnlyPacked) {
  for (const char* spec :
       {"gmm:200,600,600", "gmm:150,1024,600", "gmm:150,1026,600"}) {
    for (const Schedule& made : Tilings(spec, "Z")) {
      EXPECT_THAT(ToText(made.trace()), HasSubstr("cache_read")) << spec;
    }
  }
}

// Panel by panel, in the loop over panels.
TEST(RegisterTilingTest, PanelsMayBePackedWhereTheyAreUsed) {
  const Module module = *MakeWorkload("gmm:33,100,2700");
  const auto made = ApplyRule(RegisterTiling, module, "Z");
  ASSERT_GE(made.size(), 2u);
  EXPECT_THAT(ToText(made[1].trace()), HasSubstr("sch.compute_at"));
  EXPECT_THAT(ToText(made[1].trace()), HasSubstr("cache_write"));
  EXPECT_FALSE(ExpectSameMeaning(module, {made[1]}, 1).empty());
}

// High panels, in blocks of rows; or the rows as they lie, for blocks of which
// the sums wait in the output.
TEST(RegisterTilingTest, HighPanelsComeInBlocksOfRows) {
  const Module module = *MakeWorkload("gmm:33,50,5600");
  RuleContext context;
  context.near_bytes = 256 << 10;
  const auto made = ApplyRule(RegisterTiling, module, "Z", context);
  ASSERT_GE(made.size(), 2u);
  const std::string packed = ToText(made.front().trace());
  const std::string streamed = ToText(made.back().trace());
  EXPECT_THAT(packed, HasSubstr("sch.compute_at"));
  EXPECT_THAT(streamed, Not(HasSubstr("cache_read")));
  EXPECT_THAT(streamed, Not(HasSubstr("cache_write")));
  EXPECT_FALSE(
      ExpectSameMeaning(module, {made.front(), made.back()}, 1).empty());
}

// All tiles of a choice are as wide as its panels, which are filled eight rows
// at a time.
TEST(RegisterTilingTest, PanelsAreAsWideAsTheTiles) {
  const auto made = Tilings("gmm:150,600,600", "Z");
  ASSERT_EQ(made.size(), 5u);
  for (size_t i = 0; i < 2; ++i) {
    const std::string text = ToText(made[1 + i].trace());
    const std::string width = std::to_string(48 + 16 * i);
    EXPECT_THAT(text, HasSubstr("d2 // " + width)) << text;
    EXPECT_THAT(text, HasSubstr("d2 % " + width)) << text;
    EXPECT_THAT(text, HasSubstr("factors=[None, 8]")) << text;
  }
}

// Rows of capsules share the weights, columns do not.
TEST(RegisterTilingTest, TilesRunAlongAxesThatShareAnOperand) {
  const Module module = *MakeWorkload("cap:3,4,3,18,3,1,1");
  const auto made = ApplyRule(RegisterTiling, module, "conv2d_capsule_nhwijc");
  ASSERT_FALSE(made.empty());
  EXPECT_THAT(ToText(made[0].trace()), HasSubstr("candidates=[[2, 4, 2], "));
  ExpectSameMeaning(module, made);
}

TEST(RegisterTilingTest, FewStepsAreUnrolledAltogether) {
  const Module module = *MakeWorkload("dep:9,11,20,3,1,1");
  const auto made = ApplyRule(RegisterTiling, module, "depth_conv2d_nhwc");
  ASSERT_FALSE(made.empty());
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_GE(CountLoops(f, ForKind::kUnrolled), 4);
  }
}

// Products of batches whose results are stored with `dims` in that order.
std::string TraceOfTransposed(const std::string& dims,
                              const std::string& shape) {
  const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((9, 20, 8), "float32"), B: T.Buffer((9, 8, 32), "float32"), C: T.Buffer($1, "float32")):
    S = T.alloc_buffer((9, 20, 32))
    for b, i, j, k in T.grid(9, 20, 32, 8):
        with T.block("S"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                S[vb, vi, vj] = T.float32(0)
            S[vb, vi, vj] = S[vb, vi, vj] + A[vb, vi, vk] * B[vb, vk, vj]
    for b, i, j in T.grid(9, 20, 32):
        with T.block("C"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            C[$0] = S[vb, vi, vj]
)",
                                                      dims, shape));
  const auto made = ApplyRule(RegisterTiling, module, "S");
  if (made.empty()) return "none";
  ExpectSameMeaning(module, made);
  return ToText(made[0].trace());
}

// A tile has one element of each row along b, but a piece of each along i.
TEST(RegisterTilingTest, AConsumerIsNotScatteredByTiles) {
  const std::string finds = "get_consumers";
  EXPECT_THAT(TraceOfTransposed("vb, vj, vi", "(9, 32, 20)"), HasSubstr(finds));
  EXPECT_THAT(TraceOfTransposed("vi, vb, vj", "(20, 9, 32)"), HasSubstr(finds));
  const std::string apart = TraceOfTransposed("vi, vj, vb", "(20, 32, 9)");
  EXPECT_THAT(apart, Not(HasSubstr(finds)));
  EXPECT_THAT(apart, HasSubstr("cache_write"));
}

TEST(RegisterTilingTest, WhatHasNoRowOfColumnsIsLeftAlone) {
  EXPECT_TRUE(Tilings("nrm:64,64", "C").empty());
  EXPECT_TRUE(Tilings("gmm:64,2,64", "Z").empty()) << "two columns";
  EXPECT_TRUE(Tilings("c2d:8,8,4,8,3,1,1", "PadInput").empty());
}

// As rules once wrote them: 10503 are 1 row of rows, 5 rows and 3 vectors.
constexpr char kTileInOneNumber[] = R"(# from tvm import tir
def apply_trace(sch: tir.Schedule) -> None:
  b0 = sch.get_block(name="Z", func_name="main")
  l1, l2, l3, l4 = sch.get_loops(block=b0)
  v5 = sch.sample_categorical(candidates=[10503, 10403], probs=[0.5, 0.5], decision=0)
  l6, l7 = sch.split(loop=l3, factors=[None, 16], preserve_unit_iters=True, disable_predication=False)
  l8, l9 = sch.split(loop=l6, factors=[None, v5 % 100], preserve_unit_iters=True, disable_predication=False)
  v10, v11 = sch.sample_perfect_tile(loop=l8, n=2, max_innermost_factor=64, decision=[1, 1])
  l12, l13 = sch.split(loop=l8, factors=[v10, v11], preserve_unit_iters=True, disable_predication=False)
  l14, l15 = sch.split(loop=l2, factors=[None, (v5 // 100) % 100], preserve_unit_iters=True, disable_predication=False)
  v16, v17 = sch.sample_perfect_tile(loop=l14, n=2, max_innermost_factor=64, decision=[1, 4])
  l18, l19 = sch.split(loop=l14, factors=[v16, v17], preserve_unit_iters=True, disable_predication=False)
  v20, v21 = sch.sample_perfect_tile(loop=l4, n=2, max_innermost_factor=4, decision=[23, 1])
  l22, l23 = sch.split(loop=l4, factors=[v20, v21], preserve_unit_iters=True, disable_predication=False)
  sch.reorder(l1, l18, l12, l13, l19, l22, l23, l15, l9, l7)
  b24 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope="local")
  sch.reverse_compute_at(block=b24, loop=l19, preserve_unit_loops=True, index=-1)
  l25, l26, l27, l28, l29, l30, l31, l32 = sch.get_loops(block=b24)
  l33, l34 = sch.split(loop=l32, factors=[None, 16], preserve_unit_iters=True, disable_predication=False)
  sch.vectorize(loop=l34)
  sch.unroll(loop=l33)
  sch.unroll(loop=l31)
  l35 = sch.fuse(l1, l18, l12, preserve_unit_iters=True)
  sch.parallel(loop=l35)
  sch.vectorize(loop=l7)
  sch.unroll(loop=l23)
  sch.unroll(loop=l15)
  sch.unroll(loop=l9)
  b36 = sch.decompose_reduction(block=b0, loop=l22)
)";

TEST(RegisterTilingTest, TracesWithATileInOneNumberStillReplay) {
  const Module module = *MakeWorkload("gmm:19,37,23");
  const std::string tuple = absl::StrReplaceAll(
      kTileInOneNumber,
      {{"  v5 = sch.sample_categorical(candidates=[10503, 10403],",
        "  v5, v6 = sch.sample_tuple(candidates=[[5, 3], [4, 3]],"},
       {"probs=[0.5, 0.5], decision=0", "probs=[0.5, 0.5], decision=[5, 3]"},
       {"v5 % 100", "v6"},
       {"(v5 // 100) % 100", "v5"}});
  KILN_ASSERT_OK_AND_ASSIGN(const Function before,
                            ReplayTrace(module, 0, kTileInOneNumber));
  KILN_ASSERT_OK_AND_ASSIGN(const Function now, ReplayTrace(module, 0, tuple));
  EXPECT_TRUE(StructurallyEqual(before, now));
  KILN_EXPECT_OK(CheckCloseResults(module.functions[0], before, 3));
}

}  // namespace
}  // namespace kiln
