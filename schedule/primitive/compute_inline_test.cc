#include "kiln/schedule/primitive/compute_inline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

// T0 = A; then each of `stages` blocks is `value` of the one before, the last
// of which writes C.
Function Stages(int stages, const std::string& value) {
  std::string body;
  for (int k = 0; k + 1 < stages; ++k) {
    absl::StrAppend(&body, "    T", k, " = T.alloc_buffer((16, 8))\n");
  }
  for (int k = 0; k < stages; ++k) {
    const std::string from = k == 0 ? "A" : absl::StrCat("T", k - 1);
    const std::string to = k + 1 == stages ? "C" : absl::StrCat("T", k);
    absl::StrAppend(
        &body, "    for i, j in T.grid(16, 8):\n", "        with T.block(\"",
        to, "\"):\n", "            vi, vj = T.axis.remap(\"SS\", [i, j])\n",
        "            ", to,
        "[vi, vj] = ", absl::StrReplaceAll(value, {{"@", from}}), "\n");
  }
  return Parse(body);
}

// Inlines all that can be; the number of refusals.
int InlineAll(Function* f, int stages) {
  int refused = 0;
  for (int k = 0; k + 1 < stages; ++k) {
    const auto inlined = Inline(*f, absl::StrCat("T", k).c_str());
    if (inlined.ok()) {
      *f = *inlined;
      continue;
    }
    ++refused;
    EXPECT_THAT(std::string(inlined.status().message()),
                HasSubstr("4096 is the most"));
  }
  return refused;
}

TEST(ComputeInlineTest, DoesNotMultiplyValuesThatEachStageReadsTwice) {
  Function f =
      Stages(24, "@[vi, vj] * T.float32(0.5) + @[vi, vj] * T.float32(0.25)");
  const Function before = f;
  const int refused = InlineAll(&f, 24);
  EXPECT_GE(refused, 2);
  EXPECT_LE(refused, 3);
  KILN_EXPECT_OK(CheckSameResults(before, f, 1));
}

TEST(ComputeInlineTest, DoesNotMultiplyIndicesThatUseAnIteratorTwice) {
  Function f = Stages(40, "@[(vi * 3 + vi // 2) % 16, vj]");
  EXPECT_GE(InlineAll(&f, 40), 1);
}

TEST(ComputeInlineTest, InlinesAnyNumberOfStagesThatReadOnce) {
  Function f = Stages(300, "@[vi, vj] * T.float32(0.5) + T.float32(1) - vi");
  EXPECT_EQ(InlineAll(&f, 300), 0);
  EXPECT_TRUE(BlocksNamed(f, "T150").empty());
}

TEST(ComputeInlineTest, RefusesAnUnknownBlock) {
  const Function f = Parse(kDouble);
  EXPECT_FALSE(ComputeInline(f, 9999).ok());
}

}  // namespace
}  // namespace kiln
