#include "kiln/schedule/primitive/decompose_reduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/fuse.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), B: T.Buffer((5, 7), "float32"), C: T.Buffer((6, 7), "float32")):
    for i, j, k in T.grid(6, 7, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(DecomposeReduction, AtEveryLoopComputesTheSame) {
  const Function f = ParseProgram(kMatmul);
  for (size_t at = 0; at < 3; ++at) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const DecomposeReductionResult result,
        DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[at]));
    const Function& g = result.function;
    EXPECT_EQ(BlockNamed(g, "C_init"), result.init);
    EXPECT_EQ(BlockNamed(g, "C_update"), BlockNamed(f, "C"));
    EXPECT_EQ(LoopsOf(g, "C_update"), LoopsOf(f, "C"));
    EXPECT_FALSE(RealizeNamed(g, "C_update").block->init);
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(DecomposeReduction, TheInitSaysWhatItReads) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), b: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = b[vi] + b[5 - vi] + A[vi, 0]
            C[vi] = C[vi] + A[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[1]));
  KILN_EXPECT_OK(VerifyFunction(result.function));
  EXPECT_THAT(PrintFunction(result.function),
              HasSubstr("T.reads(b[vi], b[5 - vi], A[vi, 0])"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

TEST(DecomposeReduction, BlocksAroundReadWhatTheUpdateAddsTo) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), C: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("row"):
            vi = T.axis.spatial(6, i)
            for k in range(5):
                with T.block("C"):
                    vk = T.axis.reduce(5, k)
                    with T.init():
                        C[vi] = T.float32(0)
                    C[vi] = C[vi] + A[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[0]));
  KILN_EXPECT_OK(VerifyFunction(result.function));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

// Rows at the borders of strips are summed up twice: once in each.
constexpr char kStrips[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 5), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32")
    for i in range(4):
        for r, k in T.grid(3, 5):
            with T.block("S"):
                vi = T.axis.spatial(8, i * 2 - 1 + r)
                vk = T.axis.reduce(5, k)
                T.where(1 <= i * 2 + r)
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + A[vi, vk]
        for r in range(2):
            with T.block("B"):
                vi = T.axis.spatial(8, i * 2 + r)
                B[vi] = S[vi] + S[T.max(vi - 1, 0)]
)";

TEST(DecomposeReduction, SumsMayBeDoneAgainInLoopsOutside) {
  const Function f = ParseProgram(kStrips);
  for (const int loop : {1, 2}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const DecomposeReductionResult result,
        DecomposeReduction(f, BlockNamed(f, "S"), LoopsOf(f, "S")[loop]));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
  }
}

// Such a row would be 0 where it is read.
TEST(DecomposeReduction, NobodyReadsWhatIsDoneAgain) {
  const Function f = ParseProgram(kStrips);
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "S"), LoopsOf(f, "S")[0]),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is no reduction")));
}

TEST(DecomposeReduction, CopiesOnlyTheLoopsThatMoveSpatialIterators) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Reorder(f, {loops[0], loops[2], loops[1]}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(g, BlockNamed(g, "C"), loops[2]));
  EXPECT_THAT(LoopNames(result.function, "C_init"), ElementsAre("i", "j_init"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(DecomposeReduction, UpdateReadsWhatItAddsTo) {
  const Function f = ParseProgram(kMatmul);
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[2]));
  const BlockNode& update = *RealizeNamed(result.function, "C_update").block;
  ASSERT_EQ(update.reads.size(), 3u);
  EXPECT_EQ(update.reads[0].buffer->name, "C");
  const BlockNode& init = *RealizeNamed(result.function, "C_init").block;
  EXPECT_TRUE(init.reads.empty());
  EXPECT_EQ(init.iters.size(), 2u);
}

TEST(DecomposeReduction, KeepsThePredicateOfSpatialLoopsOnly) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult j,
                            Split(f, loops[1], {std::nullopt, 3}));
  KILN_ASSERT_OK_AND_ASSIGN(const SplitResult k,
                            Split(j.function, loops[2], {std::nullopt, 4}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g, Reorder(k.function, {loops[0], j.loops[0], k.loops[0],
                                             k.loops[1], j.loops[1]}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(g, BlockNamed(g, "C"), k.loops[0]));
  EXPECT_EQ(PrintExpr(RealizeNamed(result.function, "C_init").predicate),
            "j_0 * 3 + j_1_init < 7");
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(DecomposeReduction, OfALoopFusedFromSpatialAndReduce) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const FuseResult fused,
                            Fuse(f, {loops[1], loops[2]}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(fused.function, BlockNamed(f, "C"), fused.loop));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 4));
}

// Four partial sums of n elements, of which there may be less.
constexpr char kPartialSums[] = R"(
@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((4,))
    for k_1, k_0 in T.grid(4, 2):
        with T.block("B"):
            vk_1, vk_0 = T.axis.remap("SR", [k_1, k_0])
            T.where(k_0 * 4 + k_1 < 3)
            with T.init():
                B[vk_1] = T.float32(0)
            B[vk_1] = B[vk_1] + A[vk_0 * 4 + vk_1]
    for i, k in T.grid(1, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vk]
)";

TEST(DecomposeReduction, MayInitPartialSumsThatNothingIsAddedTo) {
  const Function f = ParseProgram(kPartialSums);
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[1]));
  EXPECT_TRUE(IsOne(RealizeNamed(result.function, "B_init").predicate));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 7));
}

// Lanes of partial sums in fused rows, whose number only a call tells: with
// less than 8 columns some lanes have no term.
TEST(DecomposeReduction, MayInitLanesWithoutTermsInRowsOfSymbolicNumber) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (3, n, n), "float32")
    C = T.match_buffer(c, (3, n), "float32")
    B = T.alloc_buffer((3, n, 8))
    for f in range(n * 3):
        for k_0, k_1 in T.grid((n + 7) // 8, 8):
            with T.block("B"):
                vl = T.axis.spatial(8, k_1)
                vi = T.axis.spatial(3, f // n)
                vj = T.axis.spatial(n, f % n)
                vk = T.axis.reduce((n + 7) // 8, k_0)
                T.where(k_0 * 8 + k_1 < n)
                with T.init():
                    B[vi, vj, vl] = T.float32(0)
                B[vi, vj, vl] = B[vi, vj, vl] + A[vi, vj, vk * 8 + vl]
        for k_1 in range(8):
            with T.block("C"):
                vi = T.axis.spatial(3, f // n)
                vj = T.axis.spatial(n, f % n)
                vl = T.axis.reduce(8, k_1)
                T.where(k_1 < n)
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + B[vi, vj, vl]
)");
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult result,
      DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[1]));
  EXPECT_TRUE(IsOne(RealizeNamed(result.function, "B_init").predicate));
  // Lanes that the condition ties to rows stay where they are.
  const Function tied = ParseProgram(absl::StrReplaceAll(
      PrintFunction(f), {{"k_0 * 8 + k_1 < n", "k_0 * 8 + k_1 < n - f"}}));
  EXPECT_THAT(
      DecomposeReduction(tied, BlockNamed(tied, "B"), LoopsOf(tied, "B")[1]),
      StatusIs(kRefused, HasSubstr("ties loops")));
}

// The fuzzer's pair 120031913: a tensor that holds what the update reaches.
TEST(DecomposeReduction, RefusesToInitPartialSumsThatHaveNoRoom) {
  const std::string text = absl::StrReplaceAll(
      kPartialSums, {{"alloc_buffer((4,))", "alloc_buffer((3,))"}});
  const Function f = ParseProgram(text);
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("ties loops")));
}

TEST(DecomposeReduction, RefusesToInitMoreOfAnOutput) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((4,), "float32")):
    for k_1, k_0 in T.grid(4, 2):
        with T.block("B"):
            vk_1, vk_0 = T.axis.remap("SR", [k_1, k_0])
            T.where(k_0 * 4 + k_1 < 3)
            with T.init():
                B[vk_1] = T.float32(0)
            B[vk_1] = B[vk_1] + A[vk_0 * 4 + vk_1]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[1]),
              StatusIs(kRefused, HasSubstr("ties loops")));
}

// The condition keeps i from 4 on out, whose init would wipe out sums.
TEST(DecomposeReduction, RefusesToInitAgainWhatOtherIterationsSum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,))
    for i, k in T.grid(8, 8):
        with T.block("B"):
            vi = T.axis.spatial(4, i % 4)
            vk = T.axis.reduce(8, k)
            T.where(i * 8 + k < 32)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi]
)");
  EXPECT_FALSE(
      DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[0]).ok());
}

// The fuzzer's pair 700013466: the condition leaves one iteration of j, and
// the init of the other would wipe out the sum.
TEST(DecomposeReduction, RefusesToInitAgainInALoopThatMovesNothing) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
    B = T.alloc_buffer((3,))
    for i, j, k in T.grid(3, 2, 1):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            vk = T.axis.reduce(1, 0)
            T.where(j + k < 1)
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi]
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = B[vi]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[2]),
              StatusIs(kRefused, HasSubstr("ties loops")));
}

TEST(DecomposeReduction, RefusesBelowAReduceLoop) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Reorder(f, {loops[2], loops[0], loops[1]}));
  EXPECT_THAT(DecomposeReduction(g, BlockNamed(g, "C"), loops[0]),
              StatusIs(kRefused, HasSubstr("the sum would start anew")));
}

TEST(DecomposeReduction, RefusesWhatIsNoReduction) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[0]),
              StatusIs(kRefused,
                       HasSubstr("block `B` is no reduction: it has no init")));
  EXPECT_THAT(DecomposeReduction(f, f.root().id, LoopsOf(f, "B")[0]),
              StatusIs(kRefused, HasSubstr("")));
}

TEST(DecomposeReduction, RefusesALoopOfAnotherBlock) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), B: T.Buffer((6,), "float32"), C: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi, 0]
    for i, k in T.grid(6, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "B")[0]),
              StatusIs(kRefused, HasSubstr("is not above block `C`")));
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "C"), 999),
              StatusIs(kRefused, HasSubstr("no loop 999")));
  EXPECT_THAT(DecomposeReduction(f, 999, LoopsOf(f, "C")[0]),
              StatusIs(kRefused, HasSubstr("no block 999")));
}

TEST(DecomposeReduction, RefusesAConditionThatTiesSpatialToReduce) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 5), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(10, 5):
        with T.block("C"):
            T.where(i + k < 8)
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[0]),
              StatusIs(kRefused, HasSubstr("condition")));
}

TEST(DecomposeReduction, RefusesARangeThatDependsOnALoopLeftOut) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    for k in range(8):
        for i in range(k + 1):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(
      DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[0]),
      StatusIs(kRefused, HasSubstr("the range of loop `i` depends on")));
}

// A loop that moves nothing runs the whole reduction again.
TEST(DecomposeReduction, RefusesToGoAboveALoopThatRepeatsTheSum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 5), "float32"), C: T.Buffer((8,), "float32")):
    for r, i, k in T.grid(3, 8, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[0]),
              StatusIs(kRefused, HasSubstr("moves no iterator")));
  KILN_ASSERT_OK_AND_ASSIGN(
      const DecomposeReductionResult inside,
      DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[1]));
  KILN_EXPECT_OK(CheckSameResults(f, inside.function, 5));
}

TEST(DecomposeReduction, RefusesASumThatDoesNotBeginWithItsInit) {
  for (const char* value : {"4 - k", "k + 1"}) {
    const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 6), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 5):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(6, )" +
                                    std::string(value) + R"()
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
    const auto result =
        DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[1]);
    EXPECT_EQ(result.status().code(), kRefused) << value;
  }
}

// The block adds to what is there where its init is left out.
TEST(DecomposeReduction, RefusesAConditionThatLeavesTheInitOut) {
  const auto decompose = [](const std::string& condition) {
    const Function f = ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.where()",
                                                 condition, R"()
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)"));
    return DecomposeReduction(f, BlockNamed(f, "C"), LoopsOf(f, "C")[1])
        .status();
  };
  KILN_EXPECT_OK(decompose("k < 5"));
  KILN_EXPECT_OK(decompose("k < 5 and i < 7"));
  KILN_EXPECT_OK(decompose("k % 3 == 0"));
  EXPECT_THAT(decompose("k >= 2"),
              StatusIs(kRefused, HasSubstr("leave out the iteration")));
  EXPECT_THAT(decompose("k % 2 == 1"), StatusIs(kRefused, HasSubstr("init")));
}

// Where i > 0 nothing is summed, and nothing must be written.
TEST(DecomposeReduction, RefusesLoopsThatMayHaveNoIterations) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        for k in range(1 - i):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                vk = T.axis.reduce(1, k)
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk]
)");
  for (int at : {0, 1}) {
    const auto r =
        DecomposeReduction(f, BlockNamed(f, "B"), LoopsOf(f, "B")[at]);
    EXPECT_THAT(r, StatusIs(kRefused, HasSubstr("may have no iterations")));
    if (r.ok()) KILN_EXPECT_OK(CheckSameResults(f, r->function, 6));
  }
}

}  // namespace
}  // namespace kiln
