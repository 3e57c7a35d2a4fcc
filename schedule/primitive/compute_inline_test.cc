#include "kiln/schedule/primitive/compute_inline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/equivalence.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Function Parse(const std::string& body,
               const char* params =
                   "A: T.Buffer((16, 8), \"float32\"), "
                   "C: T.Buffer((16, 8), \"float32\")") {
  return *ParseFunction(
      "test", absl::StrCat("@T.prim_func\ndef main(", params, "):\n", body));
}

absl::StatusOr<Function> Inline(const Function& f, const char* block) {
  return ComputeInline(f, BlocksNamed(f, block).at(0));
}

void ExpectRefusal(const Function& f, const char* block, const char* reason) {
  const auto result = Inline(f, block);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(reason));
}

constexpr char kDouble[] = R"(
    B = T.alloc_buffer((16, 8))
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

TEST(ComputeInlineTest, PutsTheValueWhereItIsRead) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + B[15 - vi, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, "B"));
  EXPECT_TRUE(StructurallyEqual(g, Parse(R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[0:16, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = A[vi, vj] * T.float32(2) + A[15 - vi, vj] * T.float32(2)
)"))) << CanonicalForm(g);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(ComputeInlineTest, FollowsAPackedStore) {
  const Function f = Parse(R"(
    B = T.alloc_buffer((8, 4, 4))
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi // 4, vi % 4] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vj, vi // 4, vi % 4]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, "B"));
  EXPECT_TRUE(g.root().alloc_buffers.empty());
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(ComputeInlineTest, TakesAnUnreadTensorAway) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, "B"));
  EXPECT_TRUE(BlocksNamed(g, "B").empty());
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
}

TEST(ComputeInlineTest, WidensRegionsByWhatWindowsRead) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(14, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi:vi + 3, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Inline(f, "B"));
  const Path c = *FindBlock(g, BlocksNamed(g, "C")[0]);
  const BufferRegion& read = c.realize()->block->reads.at(0);
  EXPECT_EQ(read.buffer->name, "A");
  EXPECT_TRUE(IsConst(read.region[0].extent, 3));
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(ComputeInlineTest, RefusesAnOutput) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)");
  ExpectRefusal(f, "C", "output");
}

TEST(ComputeInlineTest, RefusesAReduction) {
  const Function f = Parse(R"(
    B = T.alloc_buffer((16,))
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi]
)");
  ExpectRefusal(f, "B", "it has an init");
}

TEST(ComputeInlineTest, RefusesInputsThatAreOverwrittenBeforeTheRead) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(16, 8):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.float32(0)
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)");
  ExpectRefusal(f, "B", "overwrites `A`");
}

TEST(ComputeInlineTest, RefusesInputsThatAreMadeAnewInEachRound) {
  const Function f = Parse(R"(
    S = T.alloc_buffer((1,))
    B = T.alloc_buffer((16, 8))
    for i, j in T.grid(16, 8):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[0] = A[vi, vj]
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = S[0]
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj]
)");
  ExpectRefusal(f, "B", "anew in each iteration");
}

TEST(ComputeInlineTest, RefusesIteratorsThatDoNotFollowFromTheIndices) {
  const Function f = Parse(R"(
    B = T.alloc_buffer((16,))
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi] = A[vi, vj]
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi]
)");
  ExpectRefusal(f, "B", "do not follow");
}

TEST(ComputeInlineTest, RefusesTensorsReadThroughAView) {
  const Function f = Parse(std::string(kDouble) + R"(
    for i, j in T.grid(16, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(B[vi, vj])
            T.writes(C[vi, vj])
            V = T.match_buffer(B[vi, vj], (1, 1))
            C[vi, vj] = V[0, 0]
)");
  ExpectRefusal(f, "B", "matches a region");
}

TEST(ComputeInlineTest, RefusesAnUnknownBlock) {
  const Function f = Parse(kDouble);
  EXPECT_FALSE(ComputeInline(f, 9999).ok());
}

}  // namespace
}  // namespace kiln
