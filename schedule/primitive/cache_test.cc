#include "kiln/schedule/primitive/cache.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/equivalence.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kChain[] = R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), C: T.Buffer((16, 8), "float32"), D: T.Buffer((16, 8), "float32")):
    B = T.alloc_buffer((16, 8))
    for i in range(16):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
        for j in range(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + A[vi, vj]
    for i, j in T.grid(16, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj] - T.float32(3)
)";

Function Parse(const char* text) { return *ParseFunction("test", text); }

BlockId Named(const Function& f, const char* name) {
  return BlocksNamed(f, name).at(0);
}

std::vector<int64_t> ExtentsOf(const Function& f, const char* block) {
  std::vector<int64_t> extents;
  for (const ForNode* loop : LoopsAbove(*FindBlock(f, Named(f, block)))) {
    extents.push_back(*AsInt(loop->extent));
  }
  return extents;
}

const BlockNode& BlockOf(const Function& f, const char* name) {
  return *FindBlock(f, Named(f, name))->realize()->block;
}

// Rows with a halo, of which a part lies beyond the tensor and is not read.
TEST(CacheReadTest, CopiesNothingBeyondTheTensor) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for io in range(2):
        with T.block("outer"):
            vo = T.axis.spatial(2, io)
            T.reads(A[vo * 4 - 1:vo * 4 + 5])
            T.writes(C[vo * 4:vo * 4 + 4])
            for ii in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(4, ii)
                    T.reads(A[vo * 4 + vi - 1:vo * 4 + vi + 2])
                    T.writes(C[vo * 4 + vi])
                    C[vo * 4 + vi] = T.if_then_else(1 <= vo * 4 + vi, A[vo * 4 + vi - 1], T.float32(0)) + T.if_then_else(vo * 4 + vi < 7, A[vo * 4 + vi + 1], T.float32(0))
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "C"), 0, "global", {}));
  EXPECT_EQ(ExtentsOf(r.function, "A_global").back(), 6);
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 21));
}

// The fuzzer's pair 900319: the init is in the block around.
// Twice as many iterations as elements, of which a condition drops half, leave
// gaps as before.
TEST(CacheReadTest, RefusesGapsThatDroppedIterationsSeemToFill) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((3, 1, 4))
    for i, j in T.grid(2, 10):
        with T.block("B"):
            vi = T.axis.spatial(1, i)
            vj = T.axis.spatial(10, j)
            T.where(i < 1)
            B[vj % 3, vi, vj // 3] = A[vj]
    for j in range(10):
        with T.block("C"):
            vj = T.axis.spatial(10, j)
            C[vj] = B[vj % 3, 0, vj // 3]
)");
  EXPECT_THAT(
      CacheRead(f, Named(f, "C"), 0, "local", {}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("written")));
}

// The second iteration of i writes nothing; a copy in it would take what nobody
// wrote in that iteration.
TEST(CacheReadTest, CopiesNothingWhereTheWriterStandsStill) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((1,), "float32")):
    B = T.alloc_buffer((1,))
    for i in range(2):
        for k in range(3):
            with T.block("B"):
                v0 = T.axis.spatial(1, 0)
                vk = T.axis.reduce(3, k)
                T.where(i < 1)
                with T.init():
                    B[v0] = T.float32(0)
                B[v0] = B[v0] + A[vk]
        with T.block("C"):
            v0 = T.axis.spatial(1, i)
            T.where(i < 1)
            C[v0] = B[v0]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheResult result,
                            CacheRead(f, Named(f, "C"), 0, "local", {}));
  const auto copy = FindBlock(result.function, result.cache_block);
  EXPECT_FALSE(AsInt(copy->realize()->predicate));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
}

TEST(CacheWriteTest, RefusesABlockThatAddsToWhatIsThere) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            vr = T.axis.reduce(1, 0)
            T.reads(A[vi, 0:8])
            T.writes(C[vi])
            with T.init():
                C[vi] = T.float32(0)
            for k in range(8):
                with T.block("C"):
                    vk = T.axis.reduce(8, k)
                    T.reads(C[vi], A[vi, vk])
                    T.writes(C[vi])
                    C[vi] = C[vi] + A[vi, vk]
)");
  EXPECT_THAT(CacheWrite(f, Named(f, "C"), 0, "local", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("reads what was in `C` before")));
}

// The fuzzer's pair 4134.
// One run of the enclosing block adds one term: a cache of its own would lose
// the sum so far. The fuzzer's pair 960137151.
TEST(CacheWriteTest, RefusesASumThatTheEnclosingBlockOnlyContinues) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4, 2), "float32"), C: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 2):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            vk = T.axis.opaque(2, k)
            T.reads(A[vi, vk])
            T.writes(C[vi])
            for u in range(1):
                with T.block("C"):
                    vj = T.axis.spatial(4, vi)
                    vl = T.axis.reduce(2, vk)
                    with T.init():
                        C[vj] = T.float32(0)
                    C[vj] = C[vj] + A[vj, vl]
)");
  EXPECT_THAT(CacheWrite(f, Named(f, "C"), 0, "local", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("its init does not come first")));
}

TEST(CacheReadTest, RefusesAConsumerThatWritesTheTensor) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32")):
    for k in range(4):
        with T.block("C"):
            vk = T.axis.reduce(4, k)
            T.reads(C[0], A[vk])
            T.writes(C[0])
            C[0] = C[0] + A[vk]
)");
  const BlockId block = Named(f, "C");
  EXPECT_THAT(CacheRead(f, block, 0, "local", {block}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("writes `C` itself")));
}

// The fuzzer's pair 901953.
TEST(CacheWriteTest, RefusesABlockInAnInit) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((1,), "float32")):
    with T.block("outer"):
        vi = T.axis.spatial(1, 0)
        vr = T.axis.reduce(1, 0)
        T.reads(A[0:4])
        T.writes(C[0])
        with T.init():
            with T.block("C_init"):
                C[0] = T.float32(0)
        for k in range(4):
            with T.block("C"):
                vk = T.axis.reduce(4, k)
                T.reads(C[0], A[vk])
                T.writes(C[0])
                C[0] = C[0] + A[vk]
)");
  EXPECT_THAT(CacheWrite(f, Named(f, "C_init"), 0, "local", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("in the init of")));
}

TEST(CacheReadTest, CopiesAnInputAtTheStart) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "B"), 0, "shared", {}));
  EXPECT_EQ(ExtentsOf(r.function, "A_shared"), (std::vector<int64_t>{16, 8}));
  EXPECT_EQ(BlockOf(r.function, "B").reads[0].buffer->name, "A_shared");
  EXPECT_EQ(BlockOf(r.function, "C").reads[1].buffer->name, "A_shared");
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 1));
}

TEST(CacheReadTest, CopiesAnIntermediateWhereItHasBeenWritten) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "C"), 0, "global", {}));
  EXPECT_EQ(ExtentsOf(r.function, "B_global"),
            (std::vector<int64_t>{16, 1, 8}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 2));
}

TEST(CacheReadTest, OnlyTheNamedConsumersReadTheCopy) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(
      CacheResult r, CacheRead(f, Named(f, "B"), 0, "local", {Named(f, "C")}));
  EXPECT_EQ(BlockOf(r.function, "B").reads[0].buffer->name, "A");
  EXPECT_EQ(BlockOf(r.function, "C").reads[1].buffer->name, "A_local");
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 3));
}

TEST(CacheWriteTest, CopiesOutAfterTheBlock) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "D"), 0, "local", {}));
  EXPECT_EQ(BlockOf(r.function, "D").writes[0].buffer->name, "D_local");
  EXPECT_EQ(ExtentsOf(r.function, "D_local"), (std::vector<int64_t>{16, 8}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 4));
}

TEST(CacheWriteTest, CopiesBeforeTheFirstReader) {
  Function f = Parse(kChain);
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "B"), 0, "global", {}));
  EXPECT_EQ(ExtentsOf(r.function, "B_global"),
            (std::vector<int64_t>{16, 1, 8}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 5));
}

// Of the partial results those exist whose init ran. The fuzzer's pair
// 920048552.
constexpr char kPartial[] = R"(
@T.prim_func
def main(A: T.Buffer((3, 2), "float32"), C: T.Buffer((2,), "float32")):
    B = T.alloc_buffer((2, 3))
    for i, k0, k1, u in T.grid(2, 3, 3, 1):
        with T.block("B"):
            vi, vk1 = T.axis.remap("SS", [i, k1])
            vk0, vu = T.axis.remap("RR", [k0, u])
            T.where(k0 * 2 + k1 + u < 3 and k1 + u < 2)
            with T.init():
                B[vi, vk1] = T.float32(0)
            B[vi, vk1] = B[vi, vk1] + A[vk0 * 2 + vk1 + vu, vi]
    for i, k1 in T.grid(2, 3):
        with T.block("C"):
            vi, vk1 = T.axis.remap("SR", [i, k1])
            T.where(k1 < 2)
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + B[vi, vk1]
)";

TEST(CacheWriteTest, CopiesNoPartialResultsThatDoNotExist) {
  const Function f = Parse(kPartial);
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "B"), 0, "local", {}));
  EXPECT_EQ(ExtentsOf(r.function, "B_local"), (std::vector<int64_t>{2, 2}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

// One block that writes elements i * 4 + j under `condition`, where the loops
// are i in [0, 3) and j in [0, 4), and one that reads what it wrote.
Function Conditional(const std::string& condition) {
  return Parse(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((12,), "float32"), C: T.Buffer((12,), "float32")):
    B = T.alloc_buffer((12,))
    for i in range(3):
        for j in range(4):
            with T.block("B"):
                vi = T.axis.spatial(12, i * 4 + j)
                T.where()",
                            condition, R"()
                B[vi] = A[vi]
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(12, i * 4 + j)
                T.where()",
                            condition, R"()
                C[vi] = B[vi]
)")
                   .c_str());
}

TEST(CacheTest, CopiesNoMoreThanAPredicateLetsTheBlockWrite) {
  for (const char* condition :
       {"i * 4 + j < 7", "i * 4 + j <= 5", "5 < i * 4 + j", "i < 2",
        "2 <= i * 4 + j and i * 4 + j < 9", "j < 3", "1 <= j and i != 1",
        "j < 2 and j < 3 - i"}) {
    SCOPED_TRACE(condition);
    const Function f = Conditional(condition);
    KILN_ASSERT_OK_AND_ASSIGN(CacheResult w,
                              CacheWrite(f, Named(f, "B"), 0, "local", {}));
    KILN_EXPECT_OK(CheckSameResults(f, w.function, 6));
    KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                              CacheRead(f, Named(f, "C"), 0, "local", {}));
    KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
  }
}

TEST(CacheWriteTest, RefusesAPredicateThatLeavesGaps) {
  for (const char* condition : {"j % 2 == 0", "j != 2", "j < 1 or 2 < j"}) {
    SCOPED_TRACE(condition);
    const Function f = Conditional(condition);
    EXPECT_THAT(CacheWrite(f, Named(f, "B"), 0, "local", {}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("is not known to write all")));
  }
}

TEST(CacheReadTest, CopiesNoMoreThanTheTensorUnderAPredicate) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,))
    for i in range(3):
        for j in range(4):
            with T.block("B"):
                vi = T.axis.spatial(10, i * 4 + j)
                T.where(i * 4 + j < 10)
                B[vi] = A[vi]
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(10, i * 4 + j)
                T.where(i * 4 + j < 10)
                C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "C"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

TEST(CacheWriteTest, CopiesNoMoreThanTheTensorAfterAnInexactSplitOfAFusion) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((9, 2), "float32"), B: T.Buffer((9, 2), "float32")):
    for i, j in T.grid(5, 4):
        with T.block("B"):
            vi = T.axis.spatial(9, i * 2 + j // 2)
            vj = T.axis.spatial(2, j % 2)
            T.where(i * 4 + j < 18)
            B[vi, vj] = A[vi, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "B"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

TEST(CacheWriteTest, RefusesToFillGapsThatTheBlockLeaves) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi * 2] = A[vi]
)");
  EXPECT_THAT(CacheWrite(f, Named(f, "B"), 0, "global", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is not known to write all of the box")));
  Function diagonal = Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8, 8), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi, vi] = A[vi]
)");
  EXPECT_THAT(CacheWrite(diagonal, Named(diagonal, "B"), 0, "global", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is not known to write all")));
}

// The fuzzer's pair 312003032.
TEST(CacheWriteTest, RefusesGapsThatComputeAtLeft) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((6,), "float32"), C: T.Buffer((2,), "float32")):
    B = T.alloc_buffer((3,))
    for i in range(2):
        for ax0 in range(1):
            with T.block("B"):
                vi = T.axis.spatial(3, i * 2 + ax0)
                B[vi] = A[vi * 2]
        with T.block("C"):
            vi = T.axis.spatial(2, i)
            C[vi] = B[vi * 2]
)");
  EXPECT_THAT(CacheWrite(f, Named(f, "B"), 0, "global", {Named(f, "C")}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is not known to write all")));
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "B"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

TEST(CacheWriteTest, CopiesOnlyWhereTheLoopsOfTheWriterRun) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((1, 4), "float32"), C: T.Buffer((1, 4), "float32")):
    B = T.alloc_buffer((1, 4))
    for i in range(2):
        for j, k in T.grid(1 - i, 4):
            with T.block("B"):
                vi = T.axis.spatial(1, i + j)
                vk = T.axis.spatial(4, k)
                B[vi, vk] = A[vi, vk]
        for k in range(4):
            with T.block("C"):
                vi = T.axis.spatial(1, i)
                vk = T.axis.spatial(4, k)
                T.where(i < 1)
                C[vi, vk] = B[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheWrite(f, Named(f, "B"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

// Where i = 1 the writer's loops do not run, and there is nothing to copy.
TEST(CacheReadTest, CopiesOnlyWhereTheLoopsOfTheWriterRun) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((1, 4), "float32"), C: T.Buffer((1, 4), "float32")):
    B = T.alloc_buffer((1, 4))
    for i in range(2):
        for j, k in T.grid(1 - i, 4):
            with T.block("B"):
                vi = T.axis.spatial(1, i + j)
                vk = T.axis.spatial(4, k)
                B[vi, vk] = A[vi, vk]
        for k in range(4):
            with T.block("C"):
                vi = T.axis.spatial(1, i)
                vk = T.axis.spatial(4, k)
                T.where(i < 1)
                C[vi, vk] = B[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "C"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

TEST(CacheReadTest, CopiesOnlyInIterationsThatWrite) {
  Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
    B = T.alloc_buffer((10,))
    for i, j in T.grid(2, 7):
        for u in range(1):
            with T.block("B"):
                vi = T.axis.spatial(10, i * 5 + j)
                T.where(j < 5)
                B[vi] = A[vi]
        for u in range(1):
            with T.block("C"):
                vi = T.axis.spatial(10, i * 5 + j)
                T.where(j < 5)
                C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(CacheResult r,
                            CacheRead(f, Named(f, "C"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
}

// The fuzzer's pair 960328131.
TEST(CacheTest, RefusesAConsumerWithinAnotherBlock) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,))
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
    for i in range(4):
        with T.block("outer"):
            vo = T.axis.spatial(4, i)
            T.reads(B[vo])
            T.writes(C[vo])
            with T.block("C"):
                vi = T.axis.spatial(4, vo)
                C[vi] = B[vi]
)");
  for (const auto& result :
       {CacheWrite(f, Named(f, "B"), 0, "local", {Named(f, "C")}),
        CacheRead(f, Named(f, "outer"), 0, "local", {Named(f, "C")})}) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("stands not directly in")));
  }
}

TEST(CacheTest, RefusesBadIndicesAndScopes) {
  Function f = Parse(kChain);
  EXPECT_THAT(
      CacheRead(f, Named(f, "B"), 1, "local", {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number 1")));
  EXPECT_THAT(
      CacheWrite(f, Named(f, "B"), -1, "local", {}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number -1")));
  EXPECT_THAT(CacheRead(f, Named(f, "B"), 0, "attic", {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no memory is called \"attic\"")));
  EXPECT_FALSE(CacheRead(f, f.root().id, 0, "local", {}).ok());
}

// The fuzzer's pair 990036453: the box that the enclosing block declares has
// elements that nothing writes and nothing reads.
// Where vo is 1 nothing of A is read, and there is no such row.
TEST(CacheReadTest, CopiesNoRowsThatNoInstanceReads) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((1, 7), "float32"), B: T.Buffer((2, 7), "float32")):
    for o in range(2):
        with T.block("outer"):
            vo = T.axis.spatial(2, o)
            T.reads(A[vo, 0:7])
            T.writes(B[vo, 0:7])
            for i in range(7):
                with T.block("B"):
                    vi = T.axis.spatial(7, i)
                    T.where(vo < 1)
                    B[vo, vi] = A[vo, vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheResult g,
                            CacheRead(f, Named(f, "B"), 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, g.function, 1));
}

TEST(CacheTest, RefusesToReadWhatAnOuterBlockDeclaresAndNobodyWrote) {
  const Function f = Parse(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), C: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((3, 3))
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi // 3, vi % 3] = A[vi]
    for o in range(1):
        with T.block("outer"):
            T.reads(B[0:3, 0:3])
            T.writes(C[0:7])
            for i in range(7):
                with T.block("C"):
                    vi = T.axis.spatial(7, i)
                    C[vi] = B[vi // 3, vi % 3]
)");
  EXPECT_THAT(CacheRead(f, Named(f, "C"), 0, "global", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("may read what is not written")));
}

}  // namespace
}  // namespace kiln
