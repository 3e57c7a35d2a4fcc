#include "kiln/schedule/primitive/for_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

using Change = absl::StatusOr<Function> (*)(const Function&, LoopId);

absl::StatusOr<Function> BindBlocks(const Function& f, LoopId loop) {
  return Bind(f, loop, "blockIdx.x");
}

struct Kind {
  const char* name;
  Change change;
  ForKind kind;
};

class Kinds : public ::testing::TestWithParam<Kind> {};

TEST_P(Kinds, ChangeSpatialLoopsInPlace) {
  const Function f = ParseProgram(kMatmul);
  for (int at : {0, 1}) {
    const LoopId loop = LoopsOf(f, "C")[at];
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, GetParam().change(f, loop));
    EXPECT_EQ(LoopById(g, loop).for_kind, GetParam().kind);
    EXPECT_EQ(LoopsOf(g, "C"), LoopsOf(f, "C"));
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST_P(Kinds, NameAMissingLoop) {
  const Function f = ParseProgram(kMatmul);
  EXPECT_THAT(GetParam().change(f, 999),
              StatusIs(kRefused, HasSubstr("no loop 999")));
}

INSTANTIATE_TEST_SUITE_P(
    All, Kinds,
    ::testing::Values(Kind{"Parallel", Parallel, ForKind::kParallel},
                      Kind{"Vectorize", Vectorize, ForKind::kVectorized},
                      Kind{"Unroll", Unroll, ForKind::kUnrolled},
                      Kind{"Bind", BindBlocks, ForKind::kThreadBinding}),
    [](const auto& info) { return info.param.name; });

// What all but unroll refuse.
void ExpectDependent(const Function& f, LoopId loop, const char* reason) {
  for (Change change : {Change{Parallel}, Change{Vectorize}, BindBlocks}) {
    EXPECT_THAT(change(f, loop), StatusIs(kRefused, HasSubstr(reason)));
  }
  KILN_EXPECT_OK(Unroll(f, loop));
}

// One block over i and j in [0, 8), called "O".
Function OverEightByEight(const std::string& iters, const std::string& store) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), S: T.Buffer((8,), "int64"), O: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("O"):
            )",
                                   iters, "\n            ", store, "\n"));
}

TEST(ForKind, SpatialIteratorsThatDoNotChooseTheElementAreNotIndependent) {
  for (const char* index : {"S[vi], vj", "0, vj", "vi // 2, vj", "vi % 4, vj",
                            "vi + vj, 0", "vi * 4 + vj, 0"}) {
    const Function f =
        OverEightByEight("vi, vj = T.axis.remap(\"SS\", [i, j])",
                         absl::StrCat("O[", index, "] = A[vi, vj]"));
    ExpectDependent(f, LoopsOf(f, "O")[0], "may touch the same element");
  }
}

TEST(ForKind, RowsOfAScatterAreIndependent) {
  const Function f = OverEightByEight("vi, vj = T.axis.remap(\"SS\", [i, j])",
                                      "O[vi, S[vj]] = A[vi, vj]");
  KILN_EXPECT_OK(Parallel(f, LoopsOf(f, "O")[0]));
  EXPECT_FALSE(Parallel(f, LoopsOf(f, "O")[1]).ok());
}

TEST(ForKind, StencilsInPlaceAreNotIndependent) {
  const Function f = OverEightByEight("vi, vj = T.axis.remap(\"SS\", [i, j])",
                                      "O[vi, vj] = O[vi, vj + 1] + A[vi, vj]");
  KILN_EXPECT_OK(Parallel(f, LoopsOf(f, "O")[0]));
  ExpectDependent(f, LoopsOf(f, "O")[1], "it reads `O`, which it writes");
}

TEST(ForKind, TheAuthorMayKnowThatWritesAreDisjoint) {
  const Function f =
      OverEightByEight("vi, vj = T.axis.remap(\"SS\", [i, j])",
                       "T.block_attr({\"disjoint_writes\": True})\n"
                       "            O[S[vi], vj] = A[vi, vj]");
  KILN_EXPECT_OK(Parallel(f, LoopsOf(f, "O")[0]));
}

// A loop of one iteration above, between and below the others.
TEST(ForKind, LoopsOfOneIterationStandInNobodysWay) {
  for (const char* loops :
       {"u, i, j in T.grid(1, 8, 8)", "i, u, j in T.grid(8, 1, 8)",
        "i, j, u in T.grid(8, 8, 1)"}) {
    for (const char* iters : {"vu, vi, vj = T.axis.remap(\"SSS\", [u, i, j])",
                              "vu, vi, vj = T.axis.remap(\"RSS\", [u, i, j])",
                              "vi, vj = T.axis.remap(\"SS\", [i, j])"}) {
      const Function f = ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), O: T.Buffer((8, 8), "float32")):
    for )",
                                                   loops, R"(:
        with T.block("O"):
            )",
                                                   iters, R"(
            with T.init():
                O[vi, vj] = T.float32(0)
            O[vi, vj] = O[vi, vj] + A[vi, vj]
)"));
      for (LoopId loop : LoopsOf(f, "O")) {
        for (Change change :
             {Change{Parallel}, Change{Vectorize}, BindBlocks}) {
          KILN_ASSERT_OK_AND_ASSIGN(const Function g, change(f, loop));
          KILN_EXPECT_OK(CheckSameResults(f, g, 1));
        }
      }
    }
  }
}

TEST(ForKind, ReduceLoopsAreNotIndependent) {
  const Function f = ParseProgram(kMatmul);
  ExpectDependent(f, LoopsOf(f, "C")[2], "moves iterator `vk`");
}

TEST(ForKind, ThreadsMayShareAReduction) {
  const Function f = ParseProgram(kMatmul);
  KILN_EXPECT_OK(Bind(f, LoopsOf(f, "C")[2], "threadIdx.x"));
  EXPECT_FALSE(Bind(f, LoopsOf(f, "C")[2], "vthread").ok());
}

TEST(ForKind, OpaqueBlocksAreNotIndependent) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.opaque(4, i)
            B[vi] = A[vi]
)");
  ExpectDependent(f, LoopsOf(f, "B")[0], "neither complete nor a reduction");
}

// An 8 x 8 array of which block "B" stores `store`.
Function InPlace(const std::string& store) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "int32"), S: T.Buffer((8,), "int32"), B: T.Buffer((8, 8), "int32")):
    for i, j in T.grid(8, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            )" + store +
                      "\n");
}

// A block without iterators, whose body and regions use the loops.
Function UsingLoops(const std::string& written, const std::string& read) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i, j in T.grid(8, 4):
        with T.block("B"):
            T.reads()" +
                      read +
                      R"()
            T.writes(B[)" +
                      written + R"(])
            B[)" + written +
                      "] = " + read + "\n");
}

TEST(ForKind, BlocksThatUseLoopsThemselvesAreIndependentByTheirRegions) {
  for (const char* written : {"i * 4 + j", "i * 5 + j", "i + j * 8"}) {
    const Function f = UsingLoops(written, "A[i * 4 + j]");
    for (int at : {0, 1}) {
      KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                                Parallel(f, LoopsOf(f, "B")[at]));
      KILN_EXPECT_OK(CheckSameResults(f, g, 1));
    }
  }
  for (const char* written : {"i + j", "i * 3 + j", "i // 2 * 4 + j"}) {
    const Function f = UsingLoops(written, "A[i * 4 + j]");
    EXPECT_THAT(Parallel(f, LoopsOf(f, "B")[0]),
                StatusIs(kRefused, HasSubstr("uses `i` itself")))
        << written;
  }
  const Function shift = UsingLoops("i * 4 + j", "B[i * 4 + j + 4]");
  EXPECT_FALSE(Parallel(shift, LoopsOf(shift, "B")[0]).ok());
  const Function same = UsingLoops("j", "A[i * 4 + j]");
  EXPECT_THAT(Parallel(same, LoopsOf(same, "B")[0]),
              StatusIs(kRefused, HasSubstr("writes the same elements")));
}

TEST(ForKind, UpdatesOfElementsOfTheirOwnAreIndependent) {
  const Function f = InPlace("B[vi, vj] = B[vi, vj] + A[vi, vj]");
  for (LoopId loop : LoopsOf(f, "B")) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Parallel(f, loop));
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(ForKind, IterationsThatTouchWhatOthersWriteAreNotIndependent) {
  for (const char* store :
       {"B[vi, vj] = B[vi, vj + 1]", "B[vi, vj + 1] = B[vi, vj]",
        "B[vi, S[vj]] = A[vi, vj]", "B[vi, vj // 2] = A[vi, vj]",
        "B[vi, 0] = A[vi, vj]", "B[vi, vj] = B[vi, 7 - vj]"}) {
    const Function f = InPlace(store);
    ExpectDependent(f, LoopsOf(f, "B")[1], "B`");
    KILN_EXPECT_OK(Parallel(f, LoopsOf(f, "B")[0]));
  }
}

TEST(ForKind, IterationsThatWriteTheSameElementsAreNotIndependent) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for r, i in T.grid(3, 4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            B[vi] = A[vi]
)");
  ExpectDependent(f, LoopsOf(f, "B")[0], "writes the same elements");
}

TEST(ForKind, OneIterationThatWritesIsIndependent) {
  const auto program = [](const char* condition) {
    return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    for i, j, k in T.grid(4, 1, 32):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            T.where()",
                                     condition, R"()
            B[vi] = A[vi]
)"));
  };
  const Function one = program("j * 32 + k < 1");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Parallel(one, LoopsOf(one, "B")[2]));
  KILN_EXPECT_OK(CheckSameResults(one, g, 5));
  const Function two = program("j * 32 + k < 2");
  EXPECT_THAT(Parallel(two, LoopsOf(two, "B")[2]),
              StatusIs(kRefused, HasSubstr("writes the same elements")));
}

TEST(ForKind, BindingsHaveToBeAffine) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi = T.axis.spatial(16, i * j)
            B[vi] = A[vi]
)");
  ExpectDependent(f, LoopsOf(f, "B")[0], "not affine");
}

TEST(ForKind, ValuesHandedToALaterIterationAreSeen) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[T.max(vi - 1, 0)]
)");
  ExpectDependent(f, LoopsOf(f, "B")[0], "may read elements of `B`");
}

TEST(ForKind, ValuesUsedInTheSameIterationAreFine) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Parallel(f, LoopsOf(f, "B")[0]));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(ForKind, StatementsOutsideOfBlocksAreNotIndependent) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        A[0] = T.cast(i, "float32") - A[0]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.float32(1)
)");
  ExpectDependent(f, LoopsOf(f, "B")[0], "other than loops and blocks");
}

TEST(Bind, TakesThreadAxesOnly) {
  const Function f = ParseProgram(kMatmul);
  const LoopId i = LoopsOf(f, "C")[0];
  for (const char* axis :
       {"blockIdx.z", "threadIdx.y", "vthread", "vthread.x"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g, Bind(f, i, axis));
    EXPECT_EQ(LoopById(g, i).thread_tag, axis);
  }
  for (const char* axis : {"", "threadIdx", "threadIdx.w", "blockidx.x", "x"}) {
    EXPECT_THAT(Bind(f, i, axis), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr("is no thread axis")));
  }
}

TEST(Bind, RefusesAnAxisTwiceOverTheMemoryOfOneThread) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    B = T.alloc_buffer((8, 8), scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        for j in range(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for j in range(8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj]
)");
  EXPECT_THAT(Bind(f, LoopsOf(f, "B")[1], "threadIdx.x"),
              StatusIs(kRefused, HasSubstr("the memory of one thread")));
  KILN_EXPECT_OK(Bind(f, LoopsOf(f, "B")[1], "threadIdx.y"));
}

}  // namespace
}  // namespace kiln
