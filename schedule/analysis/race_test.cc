// What iterations of a parallel loop may share: programs as text, with what the
// check says of a loop or of its body. Storage that an iteration allocates is
// its own, by whatever name it goes.
#include "kiln/schedule/analysis/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A program over i and j in [0, 8) with one block of iterators vi, vj.
absl::Status Check(const std::string& loops, const std::string& iters,
                   const std::string& body) {
  return CheckConcurrentLoops(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), S: T.Buffer((8,), "int64"), O: T.Buffer((64, 64), "float32")):
)",
                                                        loops, R"(
            with T.block("O"):
                )",
                                                        iters, R"(
                )",
                                                        body, "\n")));
}

constexpr char kOuter[] =
    "    for i in T.parallel(8):\n        for j in range(8):";
constexpr char kInner[] =
    "    for i in range(8):\n        for j in T.vectorized(8):";
constexpr char kSpatial[] = "vi, vj = T.axis.remap(\"SS\", [i, j])";
constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

TEST(Race, IndicesThatTellIterationsApartAreFine) {
  for (const char* loops : {kOuter, kInner}) {
    for (const char* index :
         {"vi, vj", "vj, vi", "vi + 3, vj", "vi * 8 + vj, 0", "0, vj * 8 + vi",
          "7 - vi, 7 - vj", "vi * 2, vj * 3"}) {
      KILN_EXPECT_OK(
          Check(loops, kSpatial, absl::StrCat("O[", index, "] = A[vi, vj]")));
    }
  }
}

TEST(Race, AccessesMayPassBetweenEachOther) {
  const struct {
    int shift;
    bool apart;
  } kCases[] = {{0, true},   {1, true},   {4, true},    {5, false},
                {17, true},  {35, false}, {36, true},   {40, true},
                {-5, false}, {-7, true},  {-35, false}, {-40, true}};
  for (const auto& c : kCases) {
    for (const bool backwards : {false, true}) {
      const std::string at = backwards ? "(7 - vi) * 5" : "vi * 5";
      const absl::Status status =
          Check(kOuter, kSpatial,
                absl::StrCat("O[0, ", at, " + 40] = O[0, ", at, " + ",
                             40 + c.shift, "]"));
      EXPECT_EQ(status.ok(), c.apart) << c.shift << " " << status;
    }
  }
  // The read is of any of eight elements, between two that are written.
  KILN_EXPECT_OK(Check(kOuter, kSpatial, "O[0, vi * 9] = O[0, vi * 9 + vj]"));
  EXPECT_FALSE(
      Check(kOuter, kSpatial, "O[0, vi * 7] = O[0, vi * 7 + vj]").ok());
}

TEST(Race, ElementsThatSeveralIterationsWriteAreRefused) {
  for (const char* index : {"0, vj", "vi // 2, vj", "vi % 4, vj", "S[vi], vj",
                            "vi + vj, 0", "vi * 4 + vj, 0"}) {
    EXPECT_THAT(
        Check(kOuter, kSpatial, absl::StrCat("O[", index, "] = A[vi, vj]")),
        StatusIs(kRefused, HasSubstr("touch the same elements of `O`")))
        << index;
  }
  EXPECT_THAT(Check(kInner, kSpatial, "O[vi, S[vj]] = A[vi, vj]"),
              StatusIs(kRefused, HasSubstr("is vectorized")));
}

TEST(Race, UpdatesInPlaceThatReachOtherIterationsAreRefused) {
  KILN_EXPECT_OK(Check(kOuter, kSpatial, "O[vi, vj] = O[vi, vj + 1]"));
  EXPECT_FALSE(Check(kInner, kSpatial, "O[vi, vj] = O[vi, vj + 1]").ok());
  EXPECT_FALSE(Check(kOuter, kSpatial, "O[vi, vj] = O[vi + 1, vj]").ok());
}

TEST(Race, SumsOverALoopAreRefused) {
  constexpr char kReduce[] = "vi, vj = T.axis.remap(\"RS\", [i, j])";
  EXPECT_FALSE(Check(kOuter, kReduce, "O[vj, 0] = O[vj, 0] + A[vi, vj]").ok());
  KILN_EXPECT_OK(Check(kInner, kReduce, "O[vj, 0] = O[vj, 0] + A[vi, vj]"));
}

TEST(Race, ThreadsMayShareASum) {
  const auto check = [](const char* axis) {
    return Check(absl::StrCat("    for i in T.thread_binding(8, thread=\"",
                              axis, "\"):\n        for j in range(8):"),
                 "vi, vj = T.axis.remap(\"RS\", [i, j])",
                 "with T.init():\n                    O[vj, 0] = "
                 "T.float32(0)\n                O[vj, 0] = O[vj, 0] + A[vi, "
                 "vj]");
  };
  KILN_EXPECT_OK(check("threadIdx.x"));
  EXPECT_FALSE(check("blockIdx.x").ok());
}

TEST(Race, TheAuthorMayKnowBetter) {
  KILN_EXPECT_OK(Check(kOuter, kSpatial,
                       "T.block_attr({\"disjoint_writes\": True})\n            "
                       "    O[S[vi], vj] = A[vi, vj]"));
}

TEST(Race, LoopsOfOneIterationNeverRace) {
  KILN_EXPECT_OK(
      Check("    for i in T.parallel(1):\n        for j in range(8):", kSpatial,
            "O[S[vi], vj] = A[vi, vj]"));
}

TEST(Race, TilesOfAFusedLoopAreApart) {
  KILN_EXPECT_OK(CheckConcurrentLoops(ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), O: T.Buffer((64, 64), "float32")):
    for f in T.parallel(16):
        for i, j in T.grid(16, 16):
            with T.block("zero"):
                vi = T.axis.spatial(64, f // 4 * 16 + i)
                vj = T.axis.spatial(64, f % 4 * 16 + j)
                O[vi, vj] = T.float32(0)
        for i, j in T.grid(16, 16):
            with T.block("add"):
                vi = T.axis.spatial(64, f // 4 * 16 + i)
                vj = T.axis.spatial(64, f % 4 * 16 + j)
                O[vi, vj] = O[vi, vj] + A[vi, vj]
)")));
}

// Storage that each iteration allocates, by another name, and storage of all.
// Pixels of an image in tiles that end within its rows, written and then
// changed.
// Parts of parts, more than there are: the predicate alone keeps an iteration
// to its 4 rows.
TEST(Race, PredicatesKeepIterationsApart) {
  const auto check = [](int rows) {
    return CheckConcurrentLoops(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((5,), "float32"), O: T.Buffer((5,), "float32")):
    for i in T.parallel(2):
        for a, b, c in T.grid(3, 3, 2):
            with T.block("O"):
                vi = T.axis.spatial(5, i * 4 + b * 2 + c)
                T.where(i * 4 + ((a * 3 + b) * 2 + c) < 5 and (a * 3 + b) * 2 + c < )",
                                                          rows, R"()
                O[vi] = A[vi]
)")));
  };
  KILN_EXPECT_OK(check(4));
  EXPECT_THAT(check(5), StatusIs(kRefused, HasSubstr("may touch the same")));
}

TEST(Race, APredicateMayLeaveOneIteration) {
  KILN_EXPECT_OK(CheckConcurrentLoops(ParseProgram(R"(
@T.prim_func
def main(O: T.Buffer((6, 4), "int64"), C: T.Buffer((4,), "int32")):
    for i in T.vectorized(6):
        for j0, j1 in T.grid(1, 4):
            with T.block("O"):
                vi = T.axis.spatial(6, 0)
                vj = T.axis.spatial(4, 0)
                T.where(i * 4 + (j0 * 4 + j1) < 1)
                O[vi, vj] = O[vi, C[vj]] + O[vi, T.max(vj - 1, 0)]
)")));
}

TEST(Race, APredicateMayChooseAnyIteration) {
  const auto check = [](const std::string& condition) {
    return CheckConcurrentLoops(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((3, 8), "float32"), O: T.Buffer((1, 8), "float32")):
    for i in T.parallel(3):
        for j in range(8):
            with T.block("O"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where()",
                                                          condition, R"()
                O[0, vj] = A[vi, vj]
)")));
  };
  KILN_EXPECT_OK(check("i == 2"));
  KILN_EXPECT_OK(check("j < 4 and i * 2 == 4"));
  EXPECT_EQ(check("i == j").code(), kRefused);
  EXPECT_EQ(check("i % 2 == 0").code(), kRefused);
  EXPECT_EQ(check("j == 2").code(), kRefused);
  EXPECT_EQ(check("0 < i").code(), kRefused);
}

// Each iteration takes every third column, in two blocks.
TEST(Race, RemaindersAreApart) {
  const auto check = [](const char* column) {
    return CheckConcurrentLoops(
        ParseProgram(absl::StrReplaceAll(R"(
@T.prim_func
def main(A: T.Buffer((9, 9), "float32"), O: T.Buffer((9, 9), "float32")):
    for j1 in T.parallel(3):
        for j0 in range(3):
            for i in range(9):
                with T.block("P"):
                    vi = T.axis.spatial(9, i)
                    vj = T.axis.spatial(9, j0 * 3 + j1)
                    O[vi, vj] = T.float32(2)
            for i in range(9):
                with T.block("O"):
                    vi = T.axis.spatial(9, i)
                    vj = T.axis.spatial(9, COLUMN)
                    T.where(0 < j0 * 3 + j1)
                    O[vi, vj] = A[vi, (vj + 2) % 9]
)",
                                         {{"COLUMN", column}})));
  };
  KILN_EXPECT_OK(check("j0 * 3 + j1"));
  EXPECT_THAT(check("j0 * 2 + j1"), StatusIs(kRefused, HasSubstr("may touch")));
  EXPECT_THAT(check("8 - j0 * 3 - j1"),
              StatusIs(kRefused, HasSubstr("may touch")));
}

TEST(Race, TilesOfTheDigitsOfANumberAreApart) {
  const auto check = [](const std::string& changed) {
    return CheckConcurrentLoops(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((60,), "float32"), P: T.Buffer((12, 5), "float32")):
    for i in T.parallel(8):
        for j in range(8):
            with T.block("P"):
                v = T.axis.spatial(60, i * 8 + j)
                T.where(i * 8 + j < 60)
                P[v // 5, v % 5] = A[v]
        for j in range(8):
            with T.block("Q"):
                v = T.axis.spatial(60, i * 8 + j)
                T.where(i * 8 + j < 60)
                P[v // 5, v % 5] = )",
                                                          changed, "\n")));
  };
  KILN_EXPECT_OK(check("P[v // 5, v % 5] * T.float32(2)"));
  EXPECT_EQ(check("P[3, v % 5]").code(), kRefused);
  EXPECT_EQ(check("P[(v + 1) // 5 % 12, (v + 1) % 5]").code(), kRefused);
}

TEST(Race, ViewsAreWhatTheyAreViewsOf) {
  const auto check = [](const std::string& storage) {
    return CheckConcurrentLoops(ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), O: T.Buffer((64, 64), "float32"), S: T.Buffer((512,), "float32")):
    for f in T.parallel(8):
        own = T.allocate([512], "float32", "global")
        for i in range(512):
            rows = T.Buffer((512,), data=)",
                                                          storage, R"()
            from_ = T.Buffer((4096,), data=A.data)
            to = T.Buffer((4096,), data=O.data)
            rows[i] = from_[f * 512 + i]
            to[f * 512 + i] = rows[511 - i]
)")));
  };
  KILN_EXPECT_OK(check("own"));
  EXPECT_THAT(
      check("S.data"),
      StatusIs(kRefused, HasSubstr("touch the same elements of `rows`")));
}

}  // namespace
}  // namespace kiln
