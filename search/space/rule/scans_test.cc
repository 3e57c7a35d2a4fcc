// Sums of what came before, by rows and by columns, and which loops the rule
// makes of them. Schedules are interpreted beside the program as written.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// C[.., v] = C[.., v - 1] + A, along rows (\"SO\") or columns (\"OS\").
Module Sums(int rows, int columns, bool along_rows) {
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($0, $1), "float32"), C: T.Buffer(($0, $1), "float32")):
    for i, j in T.grid($0, $1):
        with T.block("C"):
            vi, vj = T.axis.remap("$2", [i, j])
            C[vi, vj] = T.if_then_else($3 == 0, T.float32(0), C[$4]) + A[vi, vj]
)",
      rows, columns, along_rows ? "SO" : "OS", along_rows ? "vj" : "vi",
      along_rows ? "vi, vj - 1" : "vi - 1, vj"));
}

TEST(ScansTest, RowsGoSideBySide) {
  for (const int rows : {3, 16, 21}) {
    const Module module = Sums(rows, 200, /*along_rows=*/true);
    const auto made = ApplyRule(Scans, module, "C");
    ASSERT_EQ(made.size(), 1u) << rows;
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
      EXPECT_EQ(CountLoops(f, ForKind::kUnrolled), 1);
    }
  }
}

TEST(ScansTest, ColumnsAreVectors) {
  for (const int columns : {5, 64, 77}) {
    const Module module = Sums(150, columns, /*along_rows=*/false);
    const auto made = ApplyRule(Scans, module, "C");
    ASSERT_EQ(made.size(), 1u) << columns;
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
      EXPECT_EQ(CountLoops(f, ForKind::kVectorized), 1);
    }
  }
}

TEST(ScansTest, AxesAroundThemRunInParallel) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 30, 20), "float32"), C: T.Buffer((4, 30, 20), "float32")):
    for b, i, j in T.grid(4, 30, 20):
        with T.block("C"):
            vb, vi, vj = T.axis.remap("SOS", [b, i, j])
            C[vb, vi, vj] = T.max(T.if_then_else(vi == 0, A[vb, vi, vj], C[vb, vi - 1, vj]), A[vb, vi, vj])
)");
  ExpectSameMeaning(module, ApplyRule(Scans, module, "C"));
}

// What differs between two rows is what their order decides.
TEST(ScansTest, RowsThatHangTogetherAreLeftAlone) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(C: T.Buffer((32, 32), "float32")):
    for i, j in T.grid(31, 31):
        with T.block("C"):
            vi, vj = T.axis.remap("SO", [i, j])
            C[vi + 1, vj + 1] = C[vi, vj] + C[vi + 1, vj]
)");
  EXPECT_TRUE(ApplyRule(Scans, module, "C").empty());
}

TEST(ScansTest, ASumOfAVectorKeepsItsLoop) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((1000,), "float32"), C: T.Buffer((1000,), "float32")):
    for j in range(1000):
        with T.block("C"):
            vj = T.axis.opaque(1000, j)
            C[vj] = T.if_then_else(vj == 0, T.float32(0), C[vj - 1]) + A[vj]
)");
  EXPECT_TRUE(ApplyRule(Scans, module, "C").empty());
}

}  // namespace
}  // namespace kiln
