#include "kiln/schedule/primitive/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

Function Fill(const std::string& extent) {
  return ParseProgram("@T.prim_func\ndef main(A: T.Buffer((" + extent +
                      ",), \"float32\")):\n    for i in range(" + extent +
                      "):\n        with T.block(\"A\"):\n"
                      "            vi = T.axis.spatial(" +
                      extent + ", i)\n            A[vi] = T.float32(3)\n");
}

constexpr char kMatmulRelu[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8, 8))
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j, u, k in T.grid(8, 8, 1, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + B[vi, vk]
)";

TEST(SamplePerfectTile, GivesFactorsOfTheExtent) {
  for (const char* extent : {"1", "13", "128", "1099511627776"}) {
    const Function f = Fill(extent);
    const LoopId i = LoopsOf(f, "A")[0];
    Random random(7);
    KILN_ASSERT_OK_AND_ASSIGN(const auto tiles,
                              SamplePerfectTile(f, i, 4, 16, &random));
    KILN_EXPECT_OK(CheckPerfectTile(f, i, 4, 16, tiles));
  }
}

TEST(SamplePerfectTile, RefusesBadCountsAndLimits) {
  const Function f = Fill("128");
  const LoopId i = LoopsOf(f, "A")[0];
  Random random(7);
  EXPECT_THAT(SamplePerfectTile(f, i, 0, 16, &random),
              StatusIs(kBad, HasSubstr("n is 0")));
  EXPECT_THAT(SamplePerfectTile(f, i, int64_t{1} << 40, 16, &random),
              StatusIs(kBad, HasSubstr("not 1 to 64")));
  EXPECT_THAT(SamplePerfectTile(f, i, 2, 0, &random),
              StatusIs(kBad, HasSubstr("not positive")));
  EXPECT_THAT(SamplePerfectTile(f, i, 1, 16, &random),
              StatusIs(kRefused, HasSubstr("there is no way")));
  EXPECT_THAT(SamplePerfectTile(f, 999, 2, 16, &random),
              StatusIs(kRefused, HasSubstr("no loop 999")));
}

TEST(SamplePerfectTile, KeepsSymbolicLoopsWholeAndRefusesEmptyOnes) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, B: T.Buffer((4,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    for i in range(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(3)
    for i in range(0):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.float32(3)
)");
  Random random(7);
  const LoopId symbolic = LoopsOf(f, "A")[0], empty = LoopsOf(f, "B")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const auto tiles,
                            SamplePerfectTile(f, symbolic, 3, 16, &random));
  EXPECT_THAT(tiles, ElementsAre(-1, 1, 1));
  KILN_EXPECT_OK(CheckPerfectTile(f, symbolic, 3, 16, tiles));
  KILN_EXPECT_OK(CheckPerfectTile(f, symbolic, 3, 16, {-1, 24, 16}));
  // What is sampled is taken, whatever the largest factor; pair 4257 of the
  // fuzzer.
  KILN_EXPECT_OK(CheckPerfectTile(f, symbolic, 2, 0, {-1, 1}));
  for (const auto& bad : std::vector<std::vector<int64_t>>{
           {-1, 4, 17}, {-1, 0, 4}, {-1, -1, 4}, {4, -1, 4}, {-1, 4}}) {
    EXPECT_FALSE(CheckPerfectTile(f, symbolic, 3, 16, bad).ok());
  }
  EXPECT_THAT(SamplePerfectTile(f, empty, 2, 16, &random),
              StatusIs(kRefused, HasSubstr("not a positive constant")));
  EXPECT_THAT(CheckPerfectTile(f, symbolic, 2, 16, {4, 8}),
              StatusIs(kRefused, HasSubstr("not a positive constant")));
  EXPECT_FALSE(SamplePerfectTile(f, symbolic, 0, 16, &random).ok());
}

TEST(CheckPerfectTile, RefusesWhatIsNoTiling) {
  const Function f = Fill("128");
  const LoopId i = LoopsOf(f, "A")[0];
  KILN_EXPECT_OK(CheckPerfectTile(f, i, 2, 16, {8, 16}));
  EXPECT_THAT(CheckPerfectTile(f, i, 2, 16, {4, 32}),
              StatusIs(kRefused, HasSubstr("decision [4, 32] is not 2 factors "
                                           "of 128")));
  EXPECT_FALSE(CheckPerfectTile(f, i, 2, 16, {128}).ok());
  EXPECT_FALSE(CheckPerfectTile(f, i, 2, 16, {-8, -16}).ok());
}

TEST(SamplePartitionedTile, MakesTheInnerPartAMultiple) {
  for (const char* extent : {"96", "1024", "1099511627776"}) {
    const Function f = Fill(extent);
    const LoopId i = LoopsOf(f, "A")[0];
    Random random(7);
    for (int64_t pos : {0, 2, 3}) {
      const PartitionedTile tile{4, pos, 16};
      KILN_ASSERT_OK_AND_ASSIGN(const auto tiles,
                                SamplePartitionedTile(f, i, tile, &random));
      KILN_EXPECT_OK(CheckPartitionedTile(f, i, tile, tiles));
    }
  }
}

TEST(SamplePartitionedTile, GivesEachTileEquallyOften) {
  const Function f = Fill("8");
  const LoopId i = LoopsOf(f, "A")[0];
  Random random(7);
  std::map<std::vector<int64_t>, int> seen;
  for (int k = 0; k < 4000; ++k) {
    KILN_ASSERT_OK_AND_ASSIGN(const auto tiles,
                              SamplePartitionedTile(f, i, {3, 1, 2}, &random));
    ++seen[tiles];
  }
  // 2 + 3 + 4 ways to make 2, 4 and 8 of two factors.
  EXPECT_EQ(seen.size(), 9u);
  for (const auto& [tiles, count] : seen) EXPECT_NEAR(count, 444, 120);
}

TEST(SamplePartitionedTile, RefusesWhatCannotBe) {
  const Function f = Fill("24");
  const LoopId i = LoopsOf(f, "A")[0];
  Random random(7);
  EXPECT_THAT(SamplePartitionedTile(f, i, {3, 1, 16}, &random),
              StatusIs(kRefused, HasSubstr("multiple of 16")));
  EXPECT_THAT(SamplePartitionedTile(f, i, {3, 3, 2}, &random),
              StatusIs(kRefused, HasSubstr("no inner part")));
  EXPECT_THAT(SamplePartitionedTile(f, i, {3, 4, 1}, &random),
              StatusIs(kBad, HasSubstr("partition_pos")));
  EXPECT_THAT(SamplePartitionedTile(f, i, {3, 1, 0}, &random),
              StatusIs(kBad, HasSubstr("innerpart_factor")));
  EXPECT_THAT(CheckPartitionedTile(f, i, {2, 1, 8}, {6, 4}),
              StatusIs(kRefused, HasSubstr("decision [6, 4]")));
}

TEST(SampleCategorical, FollowsTheWeights) {
  Random random(11);
  std::vector<int> seen(4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(const int64_t index,
                              SampleCategorical({1, 0, 2, 5}, &random));
    ++seen[index];
  }
  EXPECT_EQ(seen[1], 0);
  for (const auto& [index, share] :
       {std::pair{0, 0.125}, std::pair{2, 0.25}, std::pair{3, 0.625}}) {
    EXPECT_NEAR(seen[index], share * kDraws,
                5 * std::sqrt(share * (1 - share) * kDraws));
  }
}

TEST(SampleCategorical, RefusesWeightsThatSayNothing) {
  Random random(11);
  EXPECT_THAT(SampleCategorical({}, &random),
              StatusIs(kBad, HasSubstr("no weight is positive")));
  EXPECT_THAT(SampleCategorical({0, 0}, &random),
              StatusIs(kBad, HasSubstr("no weight is positive")));
  EXPECT_THAT(SampleCategorical({1, -1}, &random),
              StatusIs(kBad, HasSubstr("negative")));
  EXPECT_FALSE(
      SampleCategorical({std::numeric_limits<double>::quiet_NaN()}, &random)
          .ok());
  EXPECT_FALSE(
      SampleCategorical({std::numeric_limits<double>::infinity(), 1}, &random)
          .ok());
}

TEST(SampleComputeLocation, OffersTheLoopsThatConsumersShare) {
  const Function f = ParseProgram(kMatmulRelu);
  KILN_ASSERT_OK_AND_ASSIGN(const auto locations,
                            ComputeLocations(f, BlockNamed(f, "B")));
  // Not the loop of one iteration.
  EXPECT_THAT(locations, ElementsAre(kRootLocation, kInlineLocation, 0, 1, 3));
  for (int64_t decision : {0, 1, 3}) {
    KILN_ASSERT_OK_AND_ASSIGN(const LoopId loop,
                              ComputeLocation(f, BlockNamed(f, "B"), decision));
    EXPECT_EQ(loop, LoopsOf(f, "C")[decision]);
  }
  for (int64_t decision : {kRootLocation, kInlineLocation}) {
    KILN_ASSERT_OK_AND_ASSIGN(const LoopId loop,
                              ComputeLocation(f, BlockNamed(f, "B"), decision));
    EXPECT_EQ(loop, decision);
  }
}

TEST(SampleComputeLocation, LeavesOutputsAndTheRootWhereTheyAre) {
  const Function f = ParseProgram(kMatmulRelu);
  KILN_ASSERT_OK_AND_ASSIGN(const auto output,
                            ComputeLocations(f, BlockNamed(f, "C")));
  EXPECT_THAT(output, ElementsAre(kRootLocation));
  KILN_ASSERT_OK_AND_ASSIGN(const auto root, ComputeLocations(f, f.root().id));
  EXPECT_THAT(root, ElementsAre(kRootLocation));
}

TEST(SampleComputeLocation, RefusesADecisionThatNamesNoLoop) {
  const Function f = ParseProgram(kMatmulRelu);
  for (int64_t decision : {int64_t{-3}, int64_t{4}, int64_t{1} << 60}) {
    EXPECT_THAT(ComputeLocation(f, BlockNamed(f, "B"), decision),
                StatusIs(kRefused, HasSubstr("names no loop")));
  }
  EXPECT_FALSE(ComputeLocation(f, BlockNamed(f, "C"), 0).ok());
  EXPECT_FALSE(ComputeLocation(f, f.root().id, 0).ok());
  EXPECT_FALSE(ComputeLocation(f, 999, 0).ok());
}

}  // namespace
}  // namespace kiln
