#include "kiln/schedule/primitive/compute_at.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kChain[] = R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    B = T.alloc_buffer((16, 16))
    for i, j in T.grid(16, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

// A 3-wide window over B.
constexpr char kWindow[] = R"(
@T.prim_func
def main(A: T.Buffer((18,), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((18,))
    for i in range(18):
        with T.block("B"):
            vi = T.axis.spatial(18, i)
            B[vi] = A[vi] * T.float32(2)
    for io, ii, r in T.grid(4, 4, 3):
        with T.block("C"):
            vi = T.axis.spatial(16, io * 4 + ii)
            vr = T.axis.reduce(3, r)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vi + vr]
)";

constexpr char kMatmulRelu[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    Y = T.alloc_buffer((8, 8))
    for i, j, k in T.grid(8, 8, 8):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";

Function Parse(const std::string& text) { return *ParseFunction("test", text); }

BlockId Named(const Function& f, const char* name) {
  return BlocksNamed(f, name).at(0);
}

LoopId LoopOf(const Function& f, const char* block, int position) {
  return LoopIdsAbove(*FindBlock(f, Named(f, block))).at(position);
}

std::vector<int64_t> ExtentsOf(const Function& f, const char* block) {
  std::vector<int64_t> extents;
  for (const ForNode* loop : LoopsAbove(*FindBlock(f, Named(f, block)))) {
    extents.push_back(*AsInt(loop->extent));
  }
  return extents;
}

TEST(ComputeAtTest, MovesAProducerUnderItsConsumersLoop) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(Function g,
                            ComputeAt(f, Named(f, "B"), LoopOf(f, "C", 0)));
  EXPECT_EQ(ExtentsOf(g, "B"), (std::vector<int64_t>{16, 16}));
  EXPECT_EQ(LoopOf(g, "B", 0), LoopOf(g, "C", 0));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(ComputeAtTest, ComputesTheWindowThatIsRead) {
  Function f = Parse(kWindow);
  KILN_ASSERT_OK_AND_ASSIGN(Function g,
                            ComputeAt(f, Named(f, "B"), LoopOf(f, "C", 0)));
  EXPECT_EQ(ExtentsOf(g, "B"), (std::vector<int64_t>{4, 6}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(ComputeAtTest, UnitLoopsAreMadeOnRequest) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(Function g,
                            ComputeAt(f, Named(f, "B"), LoopOf(f, "C", 1),
                                      {.preserve_unit_loops = true}));
  EXPECT_EQ(ExtentsOf(g, "B"), (std::vector<int64_t>{16, 16, 1, 1}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
}

TEST(ComputeAtTest, RefusesOutputsOwnLoopsAndForeignLoops) {
  Function f = Parse(kChain);
  EXPECT_THAT(ComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("writes an output")));
  EXPECT_THAT(
      ComputeAt(f, Named(f, "B"), LoopOf(f, "B", 0)),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("a loop of")));
  EXPECT_FALSE(ComputeAt(f, Named(f, "B"), 999).ok());
  EXPECT_FALSE(ComputeAt(f, 999, LoopOf(f, "C", 0)).ok());
}

TEST(ReverseComputeAtTest, ConsumesEachTileRightAfterItIsMade) {
  Function f = Parse(kMatmulRelu);
  KILN_ASSERT_OK_AND_ASSIGN(
      Function g, ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "Y", 1)));
  EXPECT_EQ(ExtentsOf(g, "C"), (std::vector<int64_t>{8, 8}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(ReverseComputeAtTest, RefusesPartialSums) {
  Function f = Parse(kMatmulRelu);
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "Y", 2)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("part of the sum")));
}

TEST(ReverseComputeAtTest, RefusesToLoseIterationsThatReadNothing) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((2,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((2,))
    for i in range(2):
        with T.block("B"):
            vi = T.axis.spatial(2, i)
            B[vi] = A[vi]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.reads(B[vi])
            T.writes(C[vi])
            C[vi] = T.if_then_else(vi < 2, B[vi], T.float32(0))
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("would lose them")));
}

// 15 instances, and 11 iterations that reach the last of each dimension.
TEST(ReverseComputeAtTest, RefusesToLoseThePaddingOfALayout) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((11,), "float32"), C: T.Buffer((3, 5), "float32")):
    B = T.alloc_buffer((11,))
    for i in range(11):
        with T.block("B"):
            vi = T.axis.spatial(11, i)
            B[vi] = A[vi]
    for i, j in T.grid(3, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi * 5 + vj])
            T.writes(C[vi, vj])
            C[vi, vj] = T.if_then_else(vi * 5 + vj < 11, B[vi * 5 + vj], T.float32(3))
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("would lose them")));
}

// The fuzzer's pair 505001833: rows that did not run overwrote the one that
// did.
TEST(ReverseComputeAtTest, RefusesABlockOfWhichOnlyAPartRuns) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((2, 3), "float32"), C: T.Buffer((2, 3), "float32")):
    B = T.alloc_buffer((2, 3))
    for i, j in T.grid(2, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj]
    for i in range(2):
        with T.block("C"):
            vi = T.axis.spatial(2, i)
            vj = T.axis.spatial(3, 1)
            C[vi, vj] = B[vi, vj]
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("only a part of the instances")));
}

// The fuzzer's pair 509000298: the producer's loop runs beyond its one row.
TEST(ReverseComputeAtTest, RefusesToLoseWhatReadsBeyondTheProducer) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), C: T.Buffer((3,), "float32")):
    B = T.alloc_buffer((1,))
    for i_0, i_1 in T.grid(1, 6):
        with T.block("B"):
            vi = T.axis.spatial(1, i_0 * 6 + i_1)
            T.where(i_0 * 6 + i_1 < 1)
            B[vi] = A[vi]
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            T.reads(B[vi])
            T.writes(C[vi])
            C[vi] = T.if_then_else(vi < 1, B[vi], T.float32(0))
)");
  for (int loop : {0, 1}) {
    EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", loop)),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("would lose them")));
  }
}

// C[v] reads rows that different iterations make.
TEST(ReverseComputeAtTest, RefusesWhereNoIterationMakesAllThatAnInstanceReads) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    D = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        with T.block("D"):
            vi = T.axis.spatial(8, 7 - i)
            D[vi] = A[vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + D[vi]
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("would lose them")));
}

// Iterations make two rows, of which the next makes one again.
constexpr char kOverlap[] = R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((1,), "float32"), D: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((9,))
    for i, j in T.grid(8, 2):
        with T.block("B"):
            vi = T.axis.spatial(9, i + j)
            B[vi] = A[vi]
    for i, k in T.grid(1, 9):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vk]
)";

TEST(ReverseComputeAtTest, RefusesToSumUpTwiceWhatIsMadeTwice) {
  Function f = Parse(kOverlap);
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("are not affine")));
}

TEST(ReverseComputeAtTest, RefusesToSumUpAgainInALoopThatMovesNothing) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((8,))
    for k, j in T.grid(8, 2):
        with T.block("B"):
            vi = T.axis.spatial(8, k)
            B[vi] = A[vi]
    for i, k in T.grid(1, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vk]
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 1)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("add up the same again")));
  KILN_ASSERT_OK_AND_ASSIGN(
      Function g, ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)));
  KILN_EXPECT_OK(CheckSameResults(f, g, 11));
}

TEST(ReverseComputeAtTest, RefusesToBeginASumAtItsEnd) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, 7 - i)
            B[vi] = A[vi]
    for i, k in T.grid(1, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vk]
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("init does not come first")));
}

// Every other row.
TEST(ReverseComputeAtTest, RefusesABlockThatLeavesOutEveryOtherInstance) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((7,), "float32"), C: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((7,))
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(7, i * 2)
            C[vi] = B[vi]
)");
  EXPECT_THAT(ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("not all instances")));
}

// The last of three tiles of four holds two rows.
TEST(ReverseComputeAtTest, ConsumesTilesOfWhichTheLastIsSmaller) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((10, 6), "float32"), C: T.Buffer((10, 6), "float32")):
    B = T.alloc_buffer((10, 6))
    for i_0, j, i_1 in T.grid(3, 6, 4):
        with T.block("B"):
            vi = T.axis.spatial(10, i_0 * 4 + i_1)
            vj = T.axis.spatial(6, j)
            T.where(i_0 * 4 + i_1 < 10)
            B[vi, vj] = A[vi, vj]
    for i, j in T.grid(10, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * T.float32(2)
)");
  for (int loop : {0, 1, 2}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        Function g, ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", loop)));
    KILN_EXPECT_OK(CheckSameResults(f, g, 12));
  }
}

// A window of rows, of which the pieces overlap: whole, and no sum.
TEST(ReverseComputeAtTest, ConsumesAgainWhatIsMadeAgain) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((9,), "float32")):
    B = T.alloc_buffer((9,))
    for i, j in T.grid(8, 2):
        with T.block("B"):
            vi = T.axis.spatial(9, i + j)
            B[vi] = A[vi]
    for i in range(9):
        with T.block("C"):
            vi = T.axis.spatial(9, i)
            C[vi] = B[vi] * T.float32(2)
)");
  KILN_ASSERT_OK_AND_ASSIGN(
      Function g, ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)));
  KILN_EXPECT_OK(CheckSameResults(f, g, 13));
}

TEST(ComputeAtTest, ArgumentsStayAsTheyWere) {
  Function f = Parse(kChain);
  const std::string form = CanonicalForm(f);
  KILN_EXPECT_OK(ComputeAt(f, Named(f, "B"), LoopOf(f, "C", 0)));
  EXPECT_EQ(CanonicalForm(f), form);
}

// The fuzzer's pair 1000075442: B has the row 2 of A; the other rows would
// overwrite it.
TEST(ComputeAtTest, RefusesToRunInstancesThatWriteOverOthers) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), C: T.Buffer((6,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for i in range(6):
        with T.block("B"):
            vr = T.axis.spatial(4, 2)
            vi = T.axis.spatial(6, i)
            T.reads(A[vr, vi])
            T.writes(B[vi])
            B[vi] = A[vr, vi]
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = B[vi] + 1
)");
  EXPECT_THAT(
      ComputeAt(f, Named(f, "B"), LoopOf(f, "C", 0)),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("instance")));
}

// Slices side by side: each is read under a guard, and what is named beyond its
// tensor is nobody's to write.
constexpr char kConcat[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 6), "float32"), C: T.Buffer((4, 14), "float32")):
    L = T.alloc_buffer((4, 8))
    R = T.alloc_buffer((4, 6))
    for i, j in T.grid(4, 8):
        with T.block("L"):
            vi, vj = T.axis.remap("SS", [i, j])
            L[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(4, 6):
        with T.block("R"):
            vi, vj = T.axis.remap("SS", [i, j])
            R[vi, vj] = B[vi, vj] * T.float32(2)
    for i, j in T.grid(4, 14):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vj < 8, L[vi, vj], R[vi, vj - 8])
)";

TEST(ComputeAtTest, GuardedReadsOfSlicesAtEveryLoop) {
  const Function f = Parse(kConcat);
  for (size_t depth : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function left,
        ComputeAt(f, Named(f, "L"), LoopOf(f, "C", depth)));
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function both,
        ComputeAt(left, Named(left, "R"), LoopOf(left, "C", depth)));
    KILN_EXPECT_OK(CheckSameResults(f, both, depth));
  }
}

TEST(ComputeAtTest, GuardedReadsOfSlicesUnderTilesThatCrossTheBorder) {
  const Function f = Parse(kConcat);
  for (int64_t tile : {2, 3, 5, 7, 9, 13}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const SplitResult tiles,
        Split(f, LoopOf(f, "C", 1), {std::nullopt, tile}));
    const Function& g = tiles.function;
    KILN_ASSERT_OK_AND_ASSIGN(const Function left,
                              ComputeAt(g, Named(g, "L"), tiles.loops[0]));
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function both, ComputeAt(left, Named(left, "R"), tiles.loops[0]));
    KILN_EXPECT_OK(CheckSameResults(f, both, tile));
  }
}

TEST(ComputeAtTest, WindowsOverABorderThatIsGuarded) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((12,), "float32"), C: T.Buffer((6,), "float32")):
    B = T.alloc_buffer((12,))
    for i in range(12):
        with T.block("B"):
            vi = T.axis.spatial(12, i)
            B[vi] = A[vi] * T.float32(2)
    for io, ii, r in T.grid(3, 2, 3):
        with T.block("C"):
            vi = T.axis.spatial(6, io * 2 + ii)
            vr = T.axis.reduce(3, r)
            with T.init():
                C[vi] = T.float32(-100)
            C[vi] = T.max(C[vi], T.if_then_else(1 <= vi * 2 + vr and vi * 2 + vr < 13, B[vi * 2 + vr - 1], T.float32(0)))
)");
  for (size_t depth : {0, 1}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function g, ComputeAt(f, Named(f, "B"), LoopOf(f, "C", depth)));
    KILN_EXPECT_OK(CheckSameResults(f, g, depth));
  }
}

// Rows of B that C gathers in `tiles` of three, of which there are three;
// `make` writes I before.
Function Gather(const std::string& make, int tiles) {
  return Parse(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4, 3), "float32"), I: T.Buffer((9,), "int32"), C: T.Buffer((9, 3), "float32")):
    B = T.alloc_buffer((4, 3))
    for i, j in T.grid(4, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for io in range()",
                            tiles, "):\n", make, R"(
        for ii, j in T.grid(3, 3):
            with T.block("C"):
                vi = T.axis.spatial(9, io * 3 + ii)
                vj = T.axis.spatial(3, j)
                T.where(io * 3 + ii < 9)
                C[vi, vj] = B[I[vi] % 4, vj]
)"));
}

TEST(ComputeAtTest, HoistsIndicesFromDataWhereTheyAreThereForSure) {
  const char* make = R"(
        for ii in range(3):
            with T.block("I"):
                vi = T.axis.spatial(9, io * 3 + ii)
                T.where(io * 3 + ii < 9)
                I[vi] = vi + 3
)";
  for (const Function& f : {Gather("", 3), Gather("", 4), Gather(make, 3)}) {
    for (size_t depth : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Function g,
          ComputeAt(f, Named(f, "B"), LoopOf(f, "C", depth), {.index = -2}));
      KILN_EXPECT_OK(CheckSameResults(f, g, depth));
    }
  }
}

// Where the guard does not hold an instance touches nothing of its producer,
// and its own loops have to run it all the same.
TEST(ReverseComputeAtTest, KeepsInstancesWhoseGuardFails) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((4,))
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 4, B[vi], T.float32(5))
)");
  EXPECT_EQ(
      ReverseComputeAt(f, Named(f, "C"), LoopOf(f, "B", 0)).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

// C names an element of B that is not there, and does not use it.
TEST(ComputeAtTest, RefusesToMoveWhatIsNeverNeeded) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((1,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((1,))
    for i in range(1):
        with T.block("B"):
            vi = T.axis.spatial(1, i)
            B[vi] = A[vi]
    for i in range(1):
        with T.block("C"):
            vi = T.axis.spatial(1, i)
            C[vi] = T.if_then_else(vi + 1 < 1, B[vi + 1], T.float32(0))
)");
  const LoopId loop = LoopOf(f, "C", 0);
  EXPECT_THAT(ComputeAt(f, Named(f, "B"), loop, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no instance")));
}

}  // namespace
}  // namespace kiln
