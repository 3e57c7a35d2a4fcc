#include "kiln/schedule/primitive/cache_inplace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// Doubles rows of A in place, where `where` holds.
Function Doubling(const std::string& where = "i < 4",
                  const std::string& loop = "range(4)") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 6), "int32"), B: T.Buffer((4, 6), "int32")):
    for i in )" + loop +
                      R"(:
        with T.block("F"):
            vi = T.axis.spatial(4, i)
            T.where()" +
                      where + R"()
            T.reads(A[vi, 0:6], B[vi, 0])
            T.writes(A[vi, 0:6])
            for j in range(6):
                A[vi, j] = A[vi, j] * 2 + B[vi, 0]
)");
}

TEST(CacheInplace, CopiesTheBoxInAndOut) {
  const Function f = Doubling();
  KILN_ASSERT_OK_AND_ASSIGN(const CacheInplaceResult result,
                            CacheInplace(f, BlockNamed(f, "F"), 0, "local"));
  const Function& g = result.function;
  EXPECT_EQ(BlockNamed(g, "A_local"), result.copy_in);
  EXPECT_THAT(Extents(g, "A_local"), ElementsAre(4, 1, 6));
  EXPECT_EQ(RealizeNamed(g, "F").block->writes[0].buffer->scope, "local");
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(CacheInplace, UnderAConditionCopiesUnderItToo) {
  const Function f = Doubling("i < 3");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheInplaceResult result,
                            CacheInplace(f, BlockNamed(f, "F"), 0, "global"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(CacheInplace, CopiesBackWhatIsWrittenAndNoMore) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 6), "int32")):
    with T.block("outer"):
        T.reads(A[0:4, 0:6])
        T.writes(A[0:4, 1:3])
        for i in range(4):
            with T.block("F"):
                vi = T.axis.spatial(4, i)
                T.reads(A[vi, 0:6])
                T.writes(A[vi, 1:3])
                A[vi, 1] = A[vi, 2] + A[vi, 5]
                A[vi, 2] = A[vi, 0] * 2
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheInplaceResult result,
                            CacheInplace(f, BlockNamed(f, "F"), 0, "local"));
  KILN_EXPECT_OK(VerifyFunction(result.function));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(CacheInplace, CopiesMayBeStagedAgain) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32")):
    for i in range(1):
        with T.block("F"):
            T.reads(A[0:6])
            T.writes(A[0:6])
            for j in range(6):
                A[j] = A[j] * 2 + A[0]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheInplaceResult result,
                            CacheInplace(f, BlockNamed(f, "F"), 0, "local"));
  KILN_ASSERT_OK_AND_ASSIGN(const CacheResult read,
                            CacheRead(result.function, result.copy_in, 0,
                                      "global", {result.copy_in}));
  KILN_ASSERT_OK_AND_ASSIGN(
      const CacheResult write,
      CacheWrite(read.function, result.copy_out, 0, "global", {}));
  KILN_EXPECT_OK(CheckSameResults(f, write.function, 3));
}

// Each iteration needs what the one before has left.
TEST(CacheInplace, CopiesOfSeveralIterationsAreNotReadAhead) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32")):
    for i in range(3):
        with T.block("F"):
            vi = T.axis.opaque(3, i)
            T.reads(A[0:6])
            T.writes(A[0:6])
            for j in range(6):
                A[j] = A[j] * 2 + vi
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheInplaceResult result,
                            CacheInplace(f, BlockNamed(f, "F"), 0, "local"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 4));
  EXPECT_FALSE(
      CacheRead(result.function, result.copy_in, 0, "global", {result.copy_in})
          .ok());
}

TEST(CacheInplace, RefusesWhatIsNotInPlace) {
  const Function f = Doubling();
  const BlockId block = BlockNamed(f, "F");
  EXPECT_THAT(CacheInplace(f, block, 1, "local"),
              StatusIs(kRefused, HasSubstr("does not write `B`")));
  EXPECT_THAT(
      CacheInplace(f, block, 2, "local"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number 2")));
  EXPECT_FALSE(CacheInplace(f, block, 0, "attic").ok());
  EXPECT_THAT(CacheInplace(f, BlockNamed(f, "root"), 0, "local"),
              StatusIs(kRefused, HasSubstr("root")));
}

TEST(CacheInplace, RefusesToWriteMoreThanIsRead) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32")):
    for i in range(3):
        with T.block("F"):
            vi = T.axis.spatial(3, i)
            T.reads(A[vi * 2])
            T.writes(A[vi * 2:vi * 2 + 2])
            A[vi * 2] = A[vi * 2] + 1
            A[vi * 2 + 1] = 7
)");
  EXPECT_THAT(CacheInplace(f, BlockNamed(f, "F"), 0, "local"),
              StatusIs(kRefused, HasSubstr("more of `A`")));
}

TEST(CacheInplace, RefusesUnderLoopsThatRunAtOnce) {
  const Function f = Doubling("i < 4", "T.parallel(4)");
  EXPECT_THAT(CacheInplace(f, BlockNamed(f, "F"), 0, "local"),
              StatusIs(kRefused, HasSubstr("at once")));
}

TEST(CacheInplace, RefusesABoxBeyondTheTensor) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6,), "int32")):
    for i in range(6):
        with T.block("F"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi - 1:vi + 1])
            T.writes(A[vi])
            A[vi] = A[vi] + 1
)");
  EXPECT_THAT(CacheInplace(f, BlockNamed(f, "F"), 0, "local"),
              StatusIs(kRefused, HasSubstr("beyond")));
}

// The fuzzer's pairs 990011806 and 990015266: blocks inside write B first.
TEST(CacheInplace, RefusesToBringInWhatIsNotWrittenYet) {
  const std::string block = R"(
        with T.block("outer"):
            T.reads(A[2:4], B[2:4])
            T.writes(B[2:4], C[2:4])
            for i in range(2, 4):
                with T.block("B1"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi]
                with T.block("C"):
                    vi = T.axis.spatial(4, i)
                    C[vi] = B[vi]
)";
  const std::string head = R"(
@T.prim_func
def main(A: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    with T.block("root"):
        T.reads()
        T.writes()
        B = T.alloc_buffer((4,), "int32")
)";
  const auto writer = [](const std::string& from, const std::string& to) {
    return "        for i in range(" + from + ", " + to + R"():
            with T.block("B0"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
)";
  };
  for (const std::string& before : {std::string(), writer("0", "2")}) {
    const Function f = ParseProgram(head + before + block);
    EXPECT_THAT(CacheInplace(f, BlockNamed(f, "outer"), 1, "local"),
                StatusIs(kRefused, HasSubstr("may read what is not written")));
  }
  const Function f = ParseProgram(head + writer("0", "4") + block);
  KILN_ASSERT_OK_AND_ASSIGN(
      const CacheInplaceResult result,
      CacheInplace(f, BlockNamed(f, "outer"), 1, "local"));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

}  // namespace
}  // namespace kiln
