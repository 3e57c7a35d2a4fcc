#include "kiln/schedule/primitive/rolling_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// Two sums over windows of three, one after the other, along rows.
Function Windows() {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 12), "int32"), C: T.Buffer((4, 8), "int32")):
    B = T.alloc_buffer((4, 10), "int32")
    for c, i, k in T.grid(4, 10, 3):
        with T.block("B"):
            vc, vi, vk = T.axis.remap("SSR", [c, i, k])
            with T.init():
                B[vc, vi] = 0
            B[vc, vi] = B[vc, vi] + A[vc, vi + vk]
    for c, i, k in T.grid(4, 8, 3):
        with T.block("C"):
            vc, vi, vk = T.axis.remap("SSR", [c, i, k])
            with T.init():
                C[vc, vi] = 0
            C[vc, vi] = C[vc, vi] + B[vc, vi + vk]
)");
}

// With B under the loop over tiles of `tile` columns of C.
Function Tiled(int64_t tile) {
  const Function f = Windows();
  auto split = Split(f, LoopsOf(f, "C")[1], {std::nullopt, tile});
  return *ComputeAt(split->function, BlockNamed(f, "B"), split->loops[0]);
}

std::vector<int64_t> ShapeOf(const Function& f, const char* block) {
  std::vector<int64_t> shape;
  for (const Expr& extent :
       RealizeNamed(f, block).block->writes[0].buffer->shape) {
    shape.push_back(*AsInt(extent));
  }
  return shape;
}

absl::StatusOr<Function> Rolled(const Function& f) {
  return RollingBuffer(f, BlockNamed(f, "B"), 0);
}

TEST(RollingBuffer, KeepsTheRowsThatTilesShare) {
  for (int64_t tile : {1, 2, 4}) {
    const Function f = Tiled(tile);
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(f));
    EXPECT_THAT(ShapeOf(g, "B"), ElementsAre(4, tile + 2));
    const BlockRealizeNode& writer = RealizeNamed(g, "B");
    EXPECT_FALSE(IsOne(writer.predicate));
    EXPECT_EQ(writer.block->iters[1].type, IterType::kOpaque);
    EXPECT_EQ(RealizeNamed(g, "C").block->iters[1].type, IterType::kOpaque);
    KILN_EXPECT_OK(CheckSameResults(Windows(), g, tile));
  }
}

// The last tile is not full: rows beyond the tensor are neither made nor read.
TEST(RollingBuffer, OfTilesThatDoNotDivide) {
  for (int64_t tile : {3, 5, 6, 7}) {
    const Function f = Tiled(tile);
    EXPECT_FALSE(IsOne(RealizeNamed(f, "B").predicate));
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(f));
    EXPECT_THAT(ShapeOf(g, "B"), ElementsAre(4, tile + 2));
    KILN_EXPECT_OK(CheckSameResults(Windows(), g, tile));
  }
}

// Along two dimensions, in either order of their loops: the outer one is the
// ring, and both leave out what is there.
TEST(RollingBuffer, OfTwoDimensions) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((10, 14), "int32"), C: T.Buffer((8, 12), "int32")):
    B = T.alloc_buffer((10, 14), "int32")
    for i, j in T.grid(10, 14):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 3
    for i, j, r, s in T.grid(8, 12, 3, 3):
        with T.block("C"):
            vi, vj, vr, vs = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + B[vi + vr, vj + vs]
)");
  for (bool swapped : {false, true}) {
    const auto loops = LoopsOf(f, "C");
    auto i = *Split(f, loops[0], {4, 2});
    auto j = *Split(i.function, loops[1], {3, 4});
    const LoopId first = swapped ? j.loops[0] : i.loops[0];
    const LoopId second = swapped ? i.loops[0] : j.loops[0];
    KILN_ASSERT_OK_AND_ASSIGN(
        Function tiled,
        Reorder(j.function, {first, second, i.loops[1], j.loops[1]}));
    KILN_ASSERT_OK_AND_ASSIGN(tiled,
                              ComputeAt(tiled, BlockNamed(tiled, "B"), second));
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(tiled));
    if (swapped) {
      EXPECT_THAT(ShapeOf(g, "B"), ElementsAre(10, 6));
    } else {
      EXPECT_THAT(ShapeOf(g, "B"), ElementsAre(4, 14));
    }
    KILN_EXPECT_OK(CheckSameResults(f, g, 7));
  }
}

TEST(RollingBuffer, RefusesWhereNothingOverlaps) {
  EXPECT_THAT(Rolled(Windows()),
              StatusIs(kRefused, HasSubstr("no loop holds")));
  EXPECT_THAT(Rolled(Tiled(8)), StatusIs(kRefused, HasSubstr("no two")));
}

// Rows i to i + 2 in iteration i.
Function Rows(const std::string& loop, const std::string& body) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((10,), "int32"), C: T.Buffer((8,), "int32")):
    B = T.alloc_buffer((10,), "int32")
    for i in )" + loop +
                      R"(:
        for j in range(3):
            with T.block("B"):
                vi = T.axis.spatial(10, i + j)
                T.reads(A[vi])
                T.writes(B[vi])
                )" + body +
                      R"(
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            T.reads(B[vi:vi + 3])
            T.writes(C[vi])
            C[vi] = B[vi] + B[vi + 2]
)");
}

TEST(RollingBuffer, OfReadsOfSeveralRows) {
  const Function f = Rows("range(8)", "B[vi] = A[vi] * 2");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(f));
  EXPECT_THAT(ShapeOf(g, "B"), ElementsAre(3));
  KILN_EXPECT_OK(CheckSameResults(f, g, 9));
}

// The ring's loop is the one that the reader sums over: the sum still begins
// with the first iteration only.
TEST(RollingBuffer, UnderTheLoopOfASum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32"), C: T.Buffer((2,), "int32")):
    B = T.alloc_buffer((6,), "int32")
    for k in range(2):
        for j in range(4):
            with T.block("B"):
                vj = T.axis.spatial(6, k + j)
                B[vj] = A[vj] * 2
        for i in range(2):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + B[vi * 3 + vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(f));
  EXPECT_EQ(RealizeNamed(g, "C").block->iters[1].type, IterType::kReduce);
  KILN_EXPECT_OK(CheckSameResults(f, g, 10));
}

TEST(RollingBuffer, RefusesLoopsThatRunAtOnceAndSecondRings) {
  EXPECT_THAT(Rolled(Rows("T.parallel(8)", "B[vi] = A[vi] * 2")),
              StatusIs(kRefused, HasSubstr("in order")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function once, Rolled(Tiled(4)));
  EXPECT_FALSE(Rolled(once).ok());
}

// A ring has an order: its loops neither run at once nor change places.
TEST(RollingBuffer, LaterStepsLeaveTheOrderAlone) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Rolled(Tiled(4)));
  EXPECT_FALSE(Parallel(g, LoopsOf(g, "C")[1]).ok());
  EXPECT_FALSE(Parallel(g, LoopsOf(g, "B")[2]).ok());
}

TEST(RollingBuffer, RefusesWhatOthersCanSee) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32"), C: T.Buffer((8,), "int32")):
    for i in range(8):
        for j in range(3):
            with T.block("B"):
                vi = T.axis.spatial(10, i + j)
                B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] + B[vi + 2]
)");
  EXPECT_THAT(Rolled(f), StatusIs(kRefused, HasSubstr("not allocated")));
  EXPECT_THAT(
      RollingBuffer(f, BlockNamed(f, "B"), 1),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number 1")));
  EXPECT_THAT(RollingBuffer(f, BlockNamed(f, "root"), 0),
              StatusIs(kRefused, HasSubstr("root")));
}

}  // namespace
}  // namespace kiln
