#include "kiln/schedule/primitive/reindex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kConv[] = R"(
@T.prim_func
def main(A: T.Buffer((10, 3), "float32"), W: T.Buffer((3, 3, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for h, o, r, c in T.grid(4, 4, 3, 3):
        with T.block("C"):
            vh, vo, vr, vc = T.axis.remap("SSRR", [h, o, r, c])
            with T.init():
                C[vo, vh] = T.float32(0)
            C[vo, vh] = C[vo, vh] + A[vh * 2 + vr, vc] * W[vr, vc, vo]
)";

// A block over 8 x 8 elements whose body is `body`.
Function Elementwise(const std::string& body) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            )" + body +
                      "\n");
}

int ReadOf(const Function& f, const char* block, const char* buffer) {
  const auto& reads = RealizeNamed(f, block).block->reads;
  for (size_t i = 0; i < reads.size(); ++i) {
    if (reads[i].buffer->name == buffer) return static_cast<int>(i);
  }
  return -1;
}

TEST(Reindex, EveryTensorOfAConvolutionComputesTheSame) {
  Function f = ParseProgram(kConv);
  const Function before = f;
  const BlockId block = BlockNamed(f, "C");
  for (const char* buffer : {"A", "W"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                              Reindex(f, block, ReadOf(f, "C", buffer), false));
    EXPECT_EQ(
        BlockNamed(result.function, std::string(buffer) + "_reindex_reindex"),
        result.copy);
    f = result.function;
    KILN_EXPECT_OK(CheckSameResults(before, f, 1));
  }
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                            Reindex(f, block, 0, true));
  EXPECT_EQ(BlockNamed(result.function, "C_reindex"), result.copy);
  KILN_EXPECT_OK(CheckSameResults(before, result.function, 2));
}

TEST(Reindex, TheNewTensorHasADimensionForEachIterator) {
  const Function f = ParseProgram(kConv);
  KILN_ASSERT_OK_AND_ASSIGN(
      const ReindexResult result,
      Reindex(f, BlockNamed(f, "C"), ReadOf(f, "C", "A"), false));
  EXPECT_EQ(Extents(result.function, "A_reindex_reindex"),
            (std::vector<int64_t>{4, 3, 3}));
}

TEST(Reindex, AfterAnInexactSplit) {
  const Function f = ParseProgram(kConv);
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, LoopsOf(f, "C")[0], {std::nullopt, 3}));
  for (bool is_write : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const ReindexResult result,
        Reindex(split.function, BlockNamed(f, "C"), 0, is_write));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
  }
}

// The last row keeps what it held, which a copy of the whole would not.
TEST(Reindex, RefusesWritersThatLeaveOutSomeInstances) {
  const auto program = [](const std::string& where) {
    return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), X: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where()" + where +
                        R"()
            X[vi, vj] = A[vi, vj]
)");
  };
  const Var i("i"), j("j");
  const IndexMap map{{i, j}, {j, i}};
  for (const char* where : {"i * 8 + j < 24", "i < 3", "1 <= j", "i <= j"}) {
    const Function f = program(where);
    EXPECT_THAT(
        ReindexCache(f, BlockNamed(f, "B"), 0, true, "global", map),
        StatusIs(kRefused, HasSubstr("for all values of its iterators")))
        << where;
    EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, true),
                StatusIs(kRefused, HasSubstr("for all values")))
        << where;
  }
  const Function whole = program("i * 8 + j < 32");
  KILN_EXPECT_OK(
      ReindexCache(whole, BlockNamed(whole, "B"), 0, true, "global", map)
          .status());
}

TEST(Reindex, RefusesSeveralPlaces) {
  const Function f = Elementwise("B[vi, vj] = A[vi, vj] + A[vj, vi]");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("2 places")));
}

TEST(Reindex, RefusesReadsThatMayLieOutside) {
  const Function f =
      Elementwise("B[vi, vj] = T.if_then_else(2 <= vi, A[vi - 2, vj], 0)");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("within")));
}

TEST(Reindex, RefusesWritesThatMeet) {
  const Function f = Elementwise("B[vi // 2, vj] = A[vi, vj]");
  EXPECT_FALSE(Reindex(f, BlockNamed(f, "B"), 0, true).ok());
}

TEST(Reindex, RefusesToChangeWhatWasThere) {
  const Function f = Elementwise("B[vi, vj] = B[vi, vj] + A[vi, vj]");
  EXPECT_FALSE(Reindex(f, BlockNamed(f, "B"), 0, true).ok());
  EXPECT_FALSE(Reindex(f, BlockNamed(f, "B"), 0, false).ok());
}

TEST(Reindex, RefusesABlockThatRunsForAPart) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, true),
              StatusIs(kRefused, HasSubstr("all values")));
}

TEST(Reindex, RefusesATensorThatIsMadeInTheSameNest) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    M = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("M"):
            vi = T.axis.spatial(8, i)
            M[vi] = A[vi]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = M[vi]
)");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("same nest")));
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                            Reindex(f, BlockNamed(f, "M"), 0, false));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 4));
}

// M: a sum over k; `loop` is the one that the readers of M stand in.
Function SumAndReader(const std::string& where = "i < 8",
                      const std::string& index = "vi") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 3), "int32"), B: T.Buffer((8,), "int32")):
    M = T.alloc_buffer((8,), "int32")
    for i in range(8):
        for k in range(3):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where()" +
                      where + R"()
                with T.init():
                    M[vi] = 0
                M[vi] = M[vi] + A[vi, vk]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = M[)" +
                      index + "]\n");
}

TEST(ReindexCache, CopiesOutWithinANestThatReadsTheTensor) {
  const Function f = SumAndReader();
  const Var i("i"), k("k");
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                            ReindexCache(f, BlockNamed(f, "M"), 0, true,
                                         "local", {{i, k}, {Sub(Int(7), i)}}));
  const Function& g = result.function;
  EXPECT_EQ(LoopsOf(g, "M_local"), LoopsOf(g, "B"));
  KILN_EXPECT_OK(CheckSameResults(f, g, 6));
}

TEST(Reindex, RefusesToCopyPartsOutWithinANest) {
  // Another element in each iteration of the loop that stays inside.
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 3), "int32"), B: T.Buffer((8,), "int32")):
    M = T.alloc_buffer((8, 3), "int32")
    for i in range(8):
        for k in range(3):
            with T.block("M"):
                vi, vk = T.axis.remap("SS", [i, k])
                M[vi, vk] = A[vi, vk]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = M[vi, 0]
)");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "M"), 0, true),
              StatusIs(kRefused, HasSubstr("same nest")));
}

// y is 0 and counts for nothing beside r.
TEST(Reindex, UnitIteratorsOfASumMakeNoDimension) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 3), "int32"), C: T.Buffer((4, 1), "int32")):
    for i, y, r in T.grid(4, 1, 3):
        with T.block("C"):
            vi, vy, vr = T.axis.remap("SSR", [i, y, r])
            with T.init():
                C[vi, vy] = 0
            C[vi, vy] = C[vi, vy] + A[vi, vy * 2 + vr]
)");
  const BlockId block = BlockNamed(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult read,
                            Reindex(f, block, 0, false));
  EXPECT_EQ(Extents(read.function, "A_reindex_reindex").size(), 2);
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult write,
                            Reindex(read.function, block, 0, true));
  EXPECT_EQ(Extents(write.function, "C_reindex").size(), 2);
  KILN_EXPECT_OK(CheckSameResults(f, write.function, 7));
}

TEST(Reindex, RefusesTensorsThatAreNotThere) {
  const Function f = ParseProgram(kConv);
  for (int index : {-1, 2, 7}) {
    EXPECT_THAT(
        Reindex(f, BlockNamed(f, "C"), index, true),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number")));
  }
  EXPECT_FALSE(Reindex(f, 999, 0, true).ok());
  EXPECT_FALSE(Reindex(f, f.root().id, 0, true).ok());
}

// B reads the part of A that is written.
Function ReadsAPart(const std::string& extent) {
  return ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    A = T.alloc_buffer((8,), "int32")
    for i in range()" +
                      extent + R"():
        with T.block("A"):
            vi = T.axis.spatial()" +
                      extent + R"(, i)
            A[vi] = X[vi]
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < 6, A[vi], 3)
)");
}

TEST(Reindex, RefusesToCopyWhatWasNeverWritten) {
  const Function part = ReadsAPart("6"), whole = ReadsAPart("8");
  EXPECT_THAT(Reindex(part, BlockNamed(part, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("may never have been written")));
  KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                            Reindex(whole, BlockNamed(whole, "B"), 0, false));
  KILN_EXPECT_OK(CheckSameResults(whole, result.function, 1));
}

// `before`, B as a choice of what A holds, `after`.
Function Conditional(const std::string& before, const std::string& value,
                     const std::string& after = "") {
  return ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    A = T.alloc_buffer((8,), "int32")
)" + before + R"(
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = )" +
                      value + "\n" + after);
}

constexpr char kFill6[] = R"(
    for i in range(6):
        with T.block("A"):
            vi = T.axis.spatial(6, i)
            A[vi] = X[vi]
)";
constexpr char kFill8[] = R"(
    for i in range(8):
        with T.block("A2"):
            vi = T.axis.spatial(8, i)
            A[vi] = X[vi]
)";

TEST(Reindex, OnlyWhatWasWrittenBeforeCounts) {
  const std::string choice = "T.if_then_else(vi < 6, A[vi], 3)";
  const Function late = Conditional(kFill6, choice, kFill8);
  EXPECT_THAT(Reindex(late, BlockNamed(late, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("may never have been written")));
  const Function lazy =
      Conditional(kFill6, "T.Cast(\"int32\", vi < 6 and A[vi] > 0)");
  EXPECT_THAT(Reindex(lazy, BlockNamed(lazy, "B"), 0, false),
              StatusIs(kRefused, HasSubstr("may never have been written")));
}

TEST(Reindex, ConditionsOfOthersAndFillingByPartsDoNotMatter) {
  const Function other =
      Conditional(kFill8, "A[vi] + T.if_then_else(vi < 6, X[vi], 3)");
  const Function parts = Conditional(R"(
    for i, j in T.grid(2, 4):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi * 4 + vj] = X[vi * 4 + vj]
)",
                                     "T.if_then_else(vi < 6, A[vi], 3)");
  for (const Function& f : {other, parts}) {
    KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                              Reindex(f, BlockNamed(f, "B"), 0, false));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
  }
}

TEST(Reindex, SymbolicExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 4), "float32")
    C = T.match_buffer(c, (4, n), "float32")
    for i, j in T.grid(4, n):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vj, vi]
)");
  for (bool is_write : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(const ReindexResult result,
                              Reindex(f, BlockNamed(f, "C"), 0, is_write));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
  }
}

// A map of two inputs.
IndexMap Map(std::vector<Expr> (*outputs)(Var, Var)) {
  const Var i("i"), j("j");
  return {{i, j}, outputs(i, j)};
}

TEST(ReindexCache, StagesWhatIsReadInTheGivenLayout) {
  const Function f = Elementwise("B[vi, vj] = A[vj, vi] + 1");
  const IndexMap map = Map([](Var i, Var j) {
    return std::vector<Expr>{j, FloorDiv(i, Int(2)), FloorMod(i, Int(2))};
  });
  for (bool is_write : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const ReindexResult r,
        ReindexCache(f, BlockNamed(f, "B"), 0, is_write, "shared", map));
    const char* name = is_write ? "B_shared" : "A_shared";
    EXPECT_EQ(BlockNamed(r.function, name), r.copy);
    KILN_EXPECT_OK(CheckSameResults(f, r.function, 6));
  }
}

TEST(ReindexCache, MayLeaveGapsInTheLayout) {
  const Function f = Elementwise("B[vi, vj] = A[vj, vi] + 1");
  const IndexMap map = Map(
      [](Var i, Var j) { return std::vector<Expr>{Add(Mul(i, Int(12)), j)}; });
  const auto r = ReindexCache(f, BlockNamed(f, "B"), 0, true, "global", map);
  if (r.ok()) KILN_EXPECT_OK(CheckSameResults(f, r->function, 7));
}

TEST(ReindexCache, RefusesLayoutsThatLoseElements) {
  const Function f = Elementwise("B[vi, vj] = A[vj, vi] + 1");
  const BlockId block = BlockNamed(f, "B");
  const IndexMap lossy = Map([](Var i, Var) { return std::vector<Expr>{i}; });
  EXPECT_THAT(ReindexCache(f, block, 0, false, "shared", lossy),
              StatusIs(kRefused, HasSubstr("reindex_cache_read")));
  const IndexMap folded = Map(
      [](Var i, Var j) { return std::vector<Expr>{FloorDiv(i, Int(2)), j}; });
  EXPECT_THAT(ReindexCache(f, block, 0, true, "shared", folded),
              StatusIs(kRefused, HasSubstr("reindex_cache_write")));
}

TEST(ReindexCache, RefusesIteratorsThatDoNotIndexTheTensor) {
  const Function f = Elementwise("B[vi, vj] = A[0, vi] + 1");
  const IndexMap map =
      Map([](Var i, Var j) { return std::vector<Expr>{i, j}; });
  EXPECT_THAT(
      ReindexCache(f, BlockNamed(f, "B"), 0, false, "shared", map),
      StatusIs(kRefused, HasSubstr("iterator `vj`, which does not index")));
  EXPECT_FALSE(
      ReindexCache(f, BlockNamed(f, "B"), 0, false, "nowhere", map).ok());
  EXPECT_FALSE(
      ReindexCache(f, BlockNamed(f, "B"), 3, false, "shared", map).ok());
}

TEST(Reindex, RefusesAWriteThatLeavesElementsAsTheyWere) {
  const Function f =
      Elementwise("if vi < vj:\n                B[vi, vj] = A[vi, vj]");
  EXPECT_THAT(Reindex(f, BlockNamed(f, "B"), 0, true),
              StatusIs(kRefused, HasSubstr("may leave `B` as it was")));
}

}  // namespace
}  // namespace kiln
