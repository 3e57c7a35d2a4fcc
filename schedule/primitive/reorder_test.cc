#include "kiln/schedule/primitive/reorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((5, 4), "float32"), C: T.Buffer((3, 4), "float32")):
    for i, j, k in T.grid(3, 4, 5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

TEST(Reorder, EveryOrderOfAReductionComputesTheSame) {
  const Function f = ParseProgram(kMatmul);
  std::vector<LoopId> loops = LoopsOf(f, "C");
  do {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Reorder(f, loops));
    EXPECT_EQ(LoopsOf(g, "C"), loops);
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  } while (std::next_permutation(loops.begin(), loops.end()));
}

TEST(Reorder, LoopsThatAreNotNamedKeepTheirPlaces) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Reorder(f, {loops[2], loops[0]}));
  EXPECT_THAT(LoopNames(g, "C"), ElementsAre("k", "j", "i"));
  EXPECT_THAT(Extents(g, "C"), ElementsAre(5, 4, 3));
}

TEST(Reorder, OfOneLoopChangesNothing) {
  const Function f = ParseProgram(kMatmul);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Reorder(f, {LoopsOf(f, "C")[1]}));
  EXPECT_EQ(g.body.get(), f.body.get());
}

TEST(Reorder, LoopsKeepTheirKinds) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in T.parallel(4):
        for j in T.serial(8, annotations={"note": 1}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  const auto loops = LoopsOf(f, "B");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Reorder(f, {loops[1], loops[0]}));
  EXPECT_EQ(LoopById(g, loops[0]).for_kind, ForKind::kParallel);
  EXPECT_EQ(LoopById(g, loops[1]).annotations.count("note"), 1u);
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(Reorder, RefusesNamesThatMakeNoSense) {
  const Function f = ParseProgram(kMatmul);
  const auto loops = LoopsOf(f, "C");
  EXPECT_THAT(Reorder(f, {}), StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr("no loops are given")));
  EXPECT_THAT(
      Reorder(f, {loops[0], loops[1], loops[0]}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("named twice")));
  EXPECT_THAT(Reorder(f, {loops[0], 999}),
              StatusIs(kRefused, HasSubstr("no loop 999")));
  EXPECT_THAT(Reorder(f, {999, loops[0]}),
              StatusIs(kRefused, HasSubstr("no loop 999")));
}

TEST(Reorder, RefusesLoopsOfDifferentChains) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for j in range(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]
)");
  const auto b = LoopsOf(f, "B"), c = LoopsOf(f, "C");
  EXPECT_THAT(Reorder(f, {c[1], b[1]}),
              StatusIs(kRefused, HasSubstr("in one chain")));
  EXPECT_THAT(Reorder(f, {b[1], b[0]}),
              StatusIs(kRefused, HasSubstr("in one chain")));
}

TEST(Reorder, RefusesToBringARangeInsideOut) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in range(4):
        for j in range(i + 1):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  const auto loops = LoopsOf(f, "B");
  EXPECT_THAT(Reorder(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("the range of loop `j` depends")));
}

// A sum of what came before, along rows and along columns.
TEST(Reorder, AnOpaqueIteratorKeepsItsOrderAmongFreeOnes) {
  for (const bool along_rows : {false, true}) {
    const Function f = ParseProgram(absl::Substitute(
        R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("$0", [i, j])
            B[vi, vj] = T.if_then_else($1 == 0, T.float32(0), B[$2]) + A[vi, vj]
)",
        along_rows ? "SO" : "OS", along_rows ? "vj" : "vi",
        along_rows ? "vi, vj - 1" : "vi - 1, vj"));
    const auto loops = LoopsOf(f, "B");
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              Reorder(f, {loops[1], loops[0]}));
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(Reorder, RefusesToReorderTwoOpaqueIterators) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((5, 8), "float32")):
    for i, j in T.grid(4, 7):
        with T.block("A"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(7, j)
            A[vi + 1, vj] = A[vi, vj + 1]
)");
  const auto loops = LoopsOf(f, "A");
  EXPECT_THAT(Reorder(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("order")));
}

TEST(Reorder, RefusesBindingsThatAreNotAffine) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi = T.axis.spatial(16, i * j)
            vj = T.axis.spatial(16, j)
            B[vi, vj] = A[vi, vj]
)");
  const auto loops = LoopsOf(f, "B");
  EXPECT_THAT(Reorder(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("not affine")));
}

TEST(Reorder, RefusesWhenValuesPassBetweenIterations) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((9, 8))
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, T.max(vj - 1, 0)]
)");
  const auto loops = LoopsOf(f, "C");
  EXPECT_THAT(Reorder(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("block `C`")));
}

TEST(Reorder, RefusesStatementsOutsideOfBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        A[0] = T.cast(i, "float32") * T.float32(8) - A[0]
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(1)
)");
  const auto loops = LoopsOf(f, "B");
  EXPECT_THAT(Reorder(f, {loops[1], loops[0]}),
              StatusIs(kRefused, HasSubstr("other than loops and blocks")));
}

TEST(Reorder, RefusesToMoveALoopThatRepeatsTheSum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 5), "float32"), C: T.Buffer((8,), "float32")):
    for i, r, k in T.grid(8, 3, 5):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)");
  const auto loops = LoopsOf(f, "C");
  EXPECT_THAT(Reorder(f, {loops[2], loops[1]}),
              StatusIs(kRefused, HasSubstr("moves no iterator")));
}

TEST(Reorder, RefusesASumThatDoesNotBeginWithItsInit) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 3, 3), "float32"), C: T.Buffer((8,), "float32")):
    for i, k, l in T.grid(8, 3, 3):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            vl = T.axis.reduce(3, 2 - l)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk, vl]
)");
  const auto loops = LoopsOf(f, "C");
  EXPECT_THAT(Reorder(f, {loops[2], loops[1]}),
              StatusIs(kRefused, HasSubstr("its init does not come first")));
}

}  // namespace
}  // namespace kiln
