#include "kiln/schedule/primitive/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// B for the whole, then what `second` says under loops i and j.
Function WithSecond(const std::string& second,
                    const std::string& loops = "T.grid(6, 5)") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 5), "float32"), D: T.Buffer((6, 5), "float32")):
    B = T.alloc_buffer((6, 5))
    for i, j in T.grid(6, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in )" + loops +
                      R"(:
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = )" +
                      second + "\n");
}

absl::StatusOr<MergeResult> MergeAt(const Function& f, size_t depth,
                                    const char* a = "B", const char* b = "C") {
  return Merge(f, {LoopsOf(f, a).at(depth), LoopsOf(f, b).at(depth)});
}

TEST(Merge, PutsTheSecondNestIntoTheLoopsOfTheFirst) {
  const Function f = WithSecond("B[vi, vj] + T.float32(1)");
  for (size_t depth : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(const MergeResult result, MergeAt(f, depth));
    const Function& g = result.function;
    EXPECT_EQ(LoopsOf(g, "B")[depth], result.loop);
    EXPECT_EQ(LoopsOf(g, "C")[depth], result.loop);
    EXPECT_EQ(LoopNames(g, "B")[0], "i_m");
    EXPECT_EQ(LoopNames(g, "C")[1], depth == 0 ? "j" : "j_m");
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(Merge, TakesLoopsInAnyOrderAndMoreThanTwo) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32"), D: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            B[vi] = A[vi] + 1
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = B[vi] + 1
    for i in range(6):
        with T.block("D"):
            vi = T.axis.spatial(6, i)
            D[vi] = C[vi] + B[vi]
)");
  const LoopId b = LoopsOf(f, "B")[0], c = LoopsOf(f, "C")[0];
  const LoopId d = LoopsOf(f, "D")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const MergeResult result, Merge(f, {d, b, c}));
  EXPECT_THAT(LoopsOf(result.function, "C"), ElementsAre(result.loop));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
  // The one between has to stay between.
  EXPECT_THAT(Merge(f, {b, d}), StatusIs(kRefused, HasSubstr("stay there")));
  EXPECT_THAT(Merge(f, {b, b}), StatusIs(kRefused, HasSubstr("beside")));
}

// Two sums over the same loop hand nothing to each other.
TEST(Merge, OfReductionsThatHaveNothingInCommon) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), S: T.Buffer((1,), "float32"), Q: T.Buffer((1,), "float32")):
    for k in range(7):
        with T.block("S"):
            vk = T.axis.reduce(7, k)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + A[vk]
    for k in range(7):
        with T.block("Q"):
            vk = T.axis.reduce(7, k)
            with T.init():
                Q[0] = T.float32(0)
            Q[0] = Q[0] + A[vk] * A[vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const MergeResult result, MergeAt(f, 0, "S", "Q"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(Merge, RefusesToReadASumBeforeItIsComplete) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), S: T.Buffer((1,), "float32"), Q: T.Buffer((7,), "float32")):
    for k in range(7):
        with T.block("S"):
            vk = T.axis.reduce(7, k)
            with T.init():
                S[0] = T.float32(0)
            S[0] = S[0] + A[vk]
    for k in range(7):
        with T.block("Q"):
            vk = T.axis.spatial(7, k)
            Q[vk] = S[0] - A[vk]
)");
  EXPECT_THAT(MergeAt(f, 0, "S", "Q"),
              StatusIs(kRefused, HasSubstr("within an iteration")));
}

TEST(Merge, RefusesToReadAnotherIteration) {
  EXPECT_THAT(MergeAt(WithSecond("B[5 - vi, vj]"), 0),
              StatusIs(kRefused, HasSubstr("within an iteration")));
  // Rows stay together, columns do not.
  const Function f = WithSecond("B[vi, 4 - vj]");
  KILN_ASSERT_OK_AND_ASSIGN(const MergeResult rows, MergeAt(f, 0));
  KILN_EXPECT_OK(CheckSameResults(f, rows.function, 4));
  EXPECT_THAT(MergeAt(f, 1), StatusIs(kRefused, HasSubstr("iteration")));
}

// The last iteration decides what the tensor holds, not the one before.
TEST(Merge, RefusesAScratchElementThatIterationsShare) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((1,))
    for i in range(7):
        with T.block("B"):
            v0 = T.axis.spatial(1, 0)
            B[v0] = A[0]
    for i in range(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            C[vi] = A[vi] - B[0]
)");
  EXPECT_THAT(MergeAt(f, 0), StatusIs(kRefused, HasSubstr("same elements")));
}

TEST(Merge, RefusesWhatTheFirstReadsAndTheSecondWrites) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[6 - vi]
    for i in range(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            A[vi] = T.float32(0)
)");
  EXPECT_THAT(MergeAt(f, 0), StatusIs(kRefused, HasSubstr("overwrites")));
}

TEST(Merge, RefusesLoopsOfOtherShape) {
  const Function f = WithSecond("A[vi, vj]", "T.grid(5, 5)");
  EXPECT_THAT(MergeAt(f, 0), StatusIs(kRefused, HasSubstr("extent")));
  EXPECT_THAT(MergeAt(f, 1), StatusIs(kRefused, HasSubstr("extent")));
  const auto b = LoopsOf(f, "B"), c = LoopsOf(f, "C");
  EXPECT_THAT(Merge(f, {b[0], c[1]}), StatusIs(kRefused, HasSubstr("deep")));
  EXPECT_THAT(Merge(f, {b[0], b[1]}), StatusIs(kRefused, HasSubstr("beside")));
  EXPECT_THAT(Merge(f, {b[0]}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("two")));
}

TEST(Merge, OfSymbolicAndTriangularNests) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, n), "float32")
    B = T.match_buffer(b, (n, n), "float32")
    C = T.match_buffer(c, (n, n), "float32")
    for i in range(n):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
    for p in range(n):
        for q in range(p + 1):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [p, q])
                C[vi, vj] = A[vi, vj] * T.float32(3)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const MergeResult result, MergeAt(f, 1));
  EXPECT_THAT(LoopNames(result.function, "C"), ElementsAre("i_m", "j_m"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
}

}  // namespace
}  // namespace kiln
