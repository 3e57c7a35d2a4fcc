#include "kiln/schedule/primitive/blockize.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kTiles[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4, 32), "float32")):
    for i, j_0, j_1 in T.grid(4, 4, 8):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(32, j_0 * 8 + j_1)
            B[vi, vj] = A[vi, vj] + T.float32(1)
)";

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i_0, k_0, i_1, j, k_1 in T.grid(2, 2, 2, 4, 4):
        with T.block("C"):
            vi = T.axis.spatial(4, i_0 * 2 + i_1)
            vj = T.axis.spatial(4, j)
            vk = T.axis.reduce(8, k_0 * 4 + k_1)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(Blockize, MakesABlockOfATile) {
  const Function f = ParseProgram(kTiles);
  KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult r,
                            Blockize(f, LoopsOf(f, "B")[2]));
  const BlockNode& outer = *RealizeNamed(r.function, "B_o").block;
  EXPECT_EQ(outer.id, r.block);
  ASSERT_EQ(outer.iters.size(), 2u);
  EXPECT_EQ(*AsInt(outer.iters[1].domain.extent), 4);
  EXPECT_EQ(PrintExpr(outer.writes[0].region[1].min), "vj_o * 8");
  EXPECT_EQ(*AsInt(outer.writes[0].region[1].extent), 8);
  EXPECT_EQ(LoopsOf(r.function, "B_o").size(), 2u);
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 1));
}

TEST(Blockize, LeavesUnitIteratorsOutOnRequest) {
  const Function f = ParseProgram(kTiles);
  for (bool keep : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult r,
                              Blockize(f, LoopsOf(f, "B")[2], keep));
    EXPECT_EQ(RealizeNamed(r.function, "B").block->iters.size(),
              keep ? 2u : 1u);
    KILN_EXPECT_OK(CheckSameResults(f, r.function, 2));
  }
}

TEST(Blockize, OfAReductionInitializesInTheNewBlock) {
  const Function f = ParseProgram(kMatmul);
  for (int at = 0; at < 5; ++at) {
    KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult r,
                              Blockize(f, LoopsOf(f, "C")[at]));
    EXPECT_TRUE(RealizeNamed(r.function, "C_o").block->init) << at;
    EXPECT_FALSE(RealizeNamed(r.function, "C").block->init) << at;
    KILN_EXPECT_OK(CheckSameResults(f, r.function, 3));
  }
}

TEST(Blockize, OfAllLoopsHasABlockOfOneInstance) {
  const Function f = ParseProgram(kMatmul);
  KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult r,
                            Blockize(f, LoopsOf(f, "C")[0]));
  EXPECT_TRUE(LoopsOf(r.function, "C_o").empty());
  EXPECT_EQ(LoopsOf(r.function, "C_init").size(), 3u);
}

TEST(Blockize, RefusesAnInitThatDoesNotComeFirst) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 8):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.reduce(8, 7 - k)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(Blockize(f, LoopsOf(f, "C")[1]),
              StatusIs(kRefused, HasSubstr("init")));
}

TEST(Blockize, BlocksInBlocks) {
  const Function f = ParseProgram(kTiles);
  KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult outer,
                            Blockize(f, LoopsOf(f, "B")[1]));
  KILN_ASSERT_OK_AND_ASSIGN(
      const BlockizeResult r,
      Blockize(outer.function, LoopsOf(outer.function, "B")[1]));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 4));
}

TEST(Blockize, KeepsConditionsOnLoopsAboveTheNest) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 4), "float32"), B: T.Buffer((5, 4), "float32")):
    for i_0, i_1, j in T.grid(2, 3, 4):
        with T.block("B"):
            vi = T.axis.spatial(5, i_0 * 3 + i_1)
            vj = T.axis.spatial(4, j)
            T.where(i_0 * 3 + i_1 < 5)
            B[vi, vj] = A[vi, vj] + T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const BlockizeResult r,
                            Blockize(f, LoopsOf(f, "B")[2]));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 5));
  EXPECT_THAT(Blockize(f, LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("a condition")));
}

TEST(Blockize, RefusesBindingsThatDoNotDivide) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    for j_1, j_0 in T.grid(8, 4):
        with T.block("B"):
            vj = T.axis.spatial(32, j_0 * 8 + j_1)
            B[vj] = A[vj] + T.float32(1)
)");
  EXPECT_THAT(Blockize(f, LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("do not divide")));
}

TEST(Blockize, RefusesANestThatLeavesGaps) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i, j in T.grid(2, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi * 8 + vj * 2] = A[vi * 8 + vj * 2]
)");
  EXPECT_THAT(Blockize(f, LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("leaves gaps")));
}

// Where i > 0 nothing runs, and an init of the new block would. The fuzzer's
// pair 960027095.
TEST(Blockize, RefusesANestThatMayHaveNoIterations) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")):
    for i in range(4):
        for k in range(1 - i):
            with T.block("B"):
                vi = T.axis.spatial(1, 0)
                vk = T.axis.reduce(1, i + k)
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk]
)");
  EXPECT_THAT(Blockize(f, LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("may have no iterations")));
}

TEST(Blockize, RefusesANestOfTwoBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi]
)");
  EXPECT_THAT(Blockize(f, LoopsOf(f, "B")[0]),
              StatusIs(kRefused, HasSubstr("something else than one block")));
}

}  // namespace
}  // namespace kiln
