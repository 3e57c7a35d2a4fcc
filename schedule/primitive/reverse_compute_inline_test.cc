#include "kiln/schedule/primitive/reverse_compute_inline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/equivalence.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// B[16, 8] = A * 2, then `consumer`, which writes C of `shape`.
Function Parse(const std::string& consumer, const char* shape = "(16, 8)",
               const char* where = "") {
  return *ParseFunction(
      "test",
      absl::StrCat("@T.prim_func\ndef main(A: T.Buffer((16, 8), \"float32\"), "
                   "C: T.Buffer(",
                   shape, R"(, "float32")):
    B = T.alloc_buffer((16, 8))
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j]))",
                   where, R"(
            B[vi, vj] = A[vi, vj] * T.float32(2)
)",
                   consumer));
}

absl::StatusOr<Function> Inline(const Function& f, const char* block = "C") {
  return ReverseComputeInline(f, BlocksNamed(f, block).at(0));
}

void ExpectRefusal(const Function& f, const char* reason) {
  const auto result = Inline(f);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(reason));
}

const BlockRealizeNode& RealizeOfB(const Function& f) {
  static Path path;
  path = *FindBlock(f, BlocksNamed(f, "B").at(0));
  return *path.realize();
}

TEST(ReverseComputeInlineTest, FinishesWhereItIsProduced) {
  const Function f = Parse(R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f));
  EXPECT_TRUE(BlocksNamed(g, "C").empty());
  EXPECT_TRUE(g.root().alloc_buffers.empty());
  EXPECT_TRUE(IsOne(RealizeOfB(g).predicate));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(ReverseComputeInlineTest, TurnsAFusedAccessAround) {
  const Function f = Parse(R"(
    for i, j, k in T.grid(4, 4, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vi, vk, vj] = B[vi * 4 + vj, vk] + T.float32(1)
)",
                           "(4, 8, 4)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f));
  EXPECT_TRUE(IsOne(RealizeOfB(g).predicate));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(ReverseComputeInlineTest, PredicatesWhatTheConsumerLeavesOut) {
  const Function f = Parse(R"(
    for i, j in T.grid(15, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi + 1, vj]
)",
                           "(15, 5)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f));
  EXPECT_FALSE(IsOne(RealizeOfB(g).predicate));
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
}

TEST(ReverseComputeInlineTest, PredicatesAFixedPlace) {
  const Function f = Parse(R"(
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = B[vi, 3]
)",
                           "(16,)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f));
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(ReverseComputeInlineTest, RefusesToFinishEachStepOfASum) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), C: T.Buffer((16,), "float32")):
    B = T.alloc_buffer((16,))
    for i, k in T.grid(16, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = T.max(B[vi], T.float32(0))
)");
  ExpectRefusal(f, "is a reduction");
}

TEST(ReverseComputeInlineTest, RefusesWhatTheProducerDoesNotMake) {
  ExpectRefusal(Parse(R"(
    for i, j in T.grid(20, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.if_then_else(vi < 16, B[vi, vj], T.float32(0))
)",
                      "(20, 8)"),
                "does not make all");
}

TEST(ReverseComputeInlineTest, RefusesAProducerWithFewerRounds) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            T.where(i < 7)
            B[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 7, B[vi], T.float32(0))
)");
  ExpectRefusal(f, "does not make all");
}

TEST(ReverseComputeInlineTest, RefusesSeveralPlaces) {
  ExpectRefusal(Parse(R"(
    for i, j in T.grid(15, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[vi + 1, vj]
)"),
                "several places");
}

// Tiles of B and C, rows of which `taken` are read, in one block each.
Function Tiles(const char* taken) {
  return *ParseFunction("test", absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), C: T.Buffer((16, 8), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            B = T.alloc_buffer((16, 8))
            for x, y in T.grid(4, 2):
                with T.block("B"):
                    a = T.axis.spatial(16, vi * 4 + x)
                    b = T.axis.spatial(8, vj * 2 + y)
                    B[a, b] = A[a, b] * T.float32(2)
            for x, y in T.grid()",
                                             taken, R"(, 2):
                with T.block("C"):
                    a = T.axis.spatial(16, vi * 4 + x)
                    b = T.axis.spatial(8, vj * 2 + y)
                    C[a, b] = B[a, b] + T.float32(1)
)"));
}

TEST(ReverseComputeInlineTest, MergesWithinABlockThatHoldsATileOfTheDomains) {
  const Function f = Tiles("4");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f));
  EXPECT_TRUE(BlocksNamed(g, "C").empty());
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  ExpectRefusal(Tiles("3"),
                "may not run through all of its iterators' domains");
}

// D, of so many rows, takes the first half of B.
Function HalfTaken(const char* rows) {
  return Parse(absl::StrCat(R"(
    D = T.alloc_buffer(()",
                            rows, R"(, 8))
    for i, j in T.grid(8, 8):
        with T.block("D"):
            vi = T.axis.spatial(16, i)
            vj = T.axis.spatial(8, j)
            D[vi, vj] = B[vi, vj] + T.float32(1)
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = D[vi, vj]
)"),
               "(8, 8)");
}

// Found by //tests/fuzz:schedule_fuzz, pair 1600024367. The producer's other
// half has no place in D.
TEST(ReverseComputeInlineTest,
     RefusesWorkBeyondTheTensorOfAConsumerOfSomeRows) {
  const auto result = Inline(HalfTaken("8"), "D");
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("may not run through all of its iterators' domains"));
}

TEST(ReverseComputeInlineTest, AConsumerOfSomeRowsMayHaveRoomForAll) {
  const Function f = HalfTaken("16");
  KILN_ASSERT_OK_AND_ASSIGN(const Function inlined, Inline(f, "D"));
  KILN_EXPECT_OK(CheckSameResults(f, inlined, 5));
}

TEST(ReverseComputeInlineTest, RefusesADiagonal) {
  ExpectRefusal(Parse(R"(
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vi]
)"),
                "do not follow");
}

TEST(ReverseComputeInlineTest, RefusesTwoReaders) {
  ExpectRefusal(Parse(R"(
    D = T.alloc_buffer((16, 8))
    for i, j in T.grid(16, 8):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = B[vi, vj]
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)"),
                "read by others");
}

TEST(ReverseComputeInlineTest, RefusesToWriteWhatTheProducerStillReads) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,))
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[7 - vi]
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            A[vi] = B[vi]
)");
  ExpectRefusal(f, "before");
}

}  // namespace
}  // namespace kiln
