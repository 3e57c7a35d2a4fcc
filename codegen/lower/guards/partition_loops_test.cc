// Interiors and borders of loop nests: that conditions go, and that what is
// computed stays. Programs are texts; borders of symbolic size are tried at
// many sizes.
#include "kiln/codegen/lower/guards/partition_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/guards/hoist_invariant_ifs.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Print(const Function& f) {
  Module module;
  module.functions.push_back(f);
  return PrintModule(module);
}

// The function after partition, which means the same.
Function Partitioned(const std::string& loops) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((64, 8), "float32"), B: T.Buffer((8, 8), "float32"),
         C: T.Buffer((64,), "float32")):
)" + loops;
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  absl::StatusOr<Function> hoisted = HoistInvariantIfs(module->functions[0]);
  EXPECT_TRUE(hoisted.ok());
  absl::StatusOr<Function> out = PartitionLoops(*hoisted);
  EXPECT_TRUE(out.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *out, 3));
  return *out;
}

// The conditions inside loops over `var`.
int ConditionsInside(const Function& f, const std::string& var) {
  int count = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    if (!loop || loop->var->name != var) return true;
    Visit(loop->body, [&](const Stmt& inner) {
      count += inner.kind() == StmtKind::kIf;
      return true;
    });
    return false;
  });
  return count;
}

// A row of `pixels` sums of `taps` each, in tiles of some width, where
// `padding` pixels at either end are no input.
std::string PaddedRow(int pixels, int tile, int taps = 3, int padding = 1) {
  return absl::Substitute(R"(
    for wo, r in T.grid($0, $1):
        for k in range(8):
            for wi in T.unroll($2):
                if wo * $2 + wi < $3 and $4 <= wo * $2 + wi + r and wo * $2 + wi + r < $5:
                    C[wo * $2 + wi] = C[wo * $2 + wi] + A[wo * $2 + wi + r - $4, k] * B[r, k]
)",
                          (pixels + tile - 1) / tile, taps, tile, pixels,
                          padding, pixels + taps - 1 - padding);
}

TEST(PartitionLoopsTest, TilesAtTheEndAndOnPaddingHaveNoConditionsInside) {
  for (int pixels : {5, 6, 7, 9, 14, 30}) {
    for (int tile : {2, 3, 4, 7}) {
      const Function f = Partitioned(PaddedRow(pixels, tile));
      EXPECT_EQ(ConditionsInside(f, "k"), 0) << pixels << " by " << tile << "\n"
                                             << Print(f);
    }
  }
}

// Of the taps none, or one, reads inside for all pixels of a tile.
TEST(PartitionLoopsTest, TilesOnPaddingAsWideAsTheTapsHaveNoConditionsInside) {
  for (int taps : {2, 3, 5}) {
    for (int pixels : {5, 11, 18}) {
      for (int tile : {4, 5, 11}) {
        const Function f =
            Partitioned(PaddedRow(pixels, tile, taps, /*padding=*/taps - 1));
        EXPECT_EQ(ConditionsInside(f, "k"), 0)
            << taps << " taps, " << pixels << " by " << tile << "\n"
            << Print(f);
      }
    }
  }
}

// Padding of three dimensions, of which two are asked for outside of what is
// unrolled: copies for these would leave no room for the others.
TEST(PartitionLoopsTest, ConditionsInUnrolledLoopsComeFirst) {
  const Function f = Partitioned(R"(
    for d, h, wo, co in T.grid(4, 4, 3, 2):
        for rd, rh, rw in T.grid(3, 3, 3):
            for k in range(2):
                for u in T.unroll(25):
                    for wi in T.unroll(5):
                        for ci in T.unroll(2):
                            if co * 2 + ci < 3 and wo * 5 + wi < 14:
                                if 1 <= d + rd and d + rd < 5 and 1 <= h + rh and h + rh < 5 and 1 <= wo * 5 + wi + rw and wo * 5 + wi + rw < 15:
                                    C[co * 2 + ci] = C[co * 2 + ci] + A[wo * 5 + wi + rw + d + rd + h + rh, k] * B[u % 8, ci]
)");
  EXPECT_EQ(ConditionsInside(f, "k"), 0);
}

// More statements than may be copied for anything else.
TEST(PartitionLoopsTest, LanesAreSeparatedPastTheLimit) {
  const Function f = Partitioned(R"(
    for c, k in T.grid(3, 2):
        for u in T.unroll(4000):
            for v in T.vectorized(8):
                if c * 8 + v < 20:
                    C[c * 8 + v] = C[c * 8 + v] + A[u % 64, k]
)");
  EXPECT_EQ(ConditionsInside(f, "v"), 0);
}

// The columns of the last panel end in its second vector: of the first, all
// lanes are copied, and of the third, none. Other panels are whole.
TEST(PartitionLoopsTest, VectorsOfAPanelAreToldApart) {
  const Function f = Partitioned(R"(
    for j, k in T.grid(2, 3):
        for u in T.unroll(3):
            for v in T.vectorized(8):
                C[u * 8 + v] = T.if_then_else(j == 1 and 10 <= u * 8 + v, T.float32(0), A[u * 8 + v, k])
)");
  const std::string text = Print(f);
  EXPECT_THAT(text, HasSubstr("C[v] = A[v, k]"));
  EXPECT_THAT(text, HasSubstr("C[v + 16] = T.float32(0)"));
  EXPECT_THAT(text, HasSubstr("C[u * 8 + v] = A[u * 8 + v, k]"));
  EXPECT_THAT(text, Not(HasSubstr("j == 1")));
}

// Copies are made from the inside out until there are too many: the last border
// to get any is the one that runs least, here 1 of 32 rows against 1 of 2
// columns.
TEST(PartitionLoopsTest, TheRarestBorderIsOutermost) {
  const std::string out = Print(Partitioned(R"(
    for f in range(64):
        for u in T.unroll(2):
            if f % 2 * 2 + u < 3 and f // 2 * 2 + u < 63:
                C[f // 2 * 2 + u] = C[f // 2 * 2 + u] + A[f // 2 * 2 + u, f % 2 * 2 + u]
)"));
  const size_t rows = out.find("if 0 <= f // 2");
  const size_t columns = out.find("if 0 <= f % 2");
  EXPECT_NE(columns, std::string::npos) << out;
  EXPECT_LT(rows, columns) << out;
}

TEST(PartitionLoopsTest, ABorderWithoutIterationsIsLeftOut) {
  Visit(Partitioned(PaddedRow(7, 2)).body, [&](const Stmt& s) {
    EXPECT_NE(s.kind(), StmtKind::kEvaluate);
    return true;
  });
}

// The divisor is 0 where the outer condition fails; Partitioned() runs both.
TEST(PartitionLoopsTest, ADivisionThatAConditionGuardsStaysBehindIt) {
  const Function f = Partitioned(R"(
    for p in range(16):
        for k in range(8):
            if 3 < p:
                for v in range(4):
                    if v < 40 // (p - 3):
                        C[p] = C[p] + A[p + v, k]
)");
  EXPECT_GT(ConditionsInside(f, "p"), 0);
}

// Tiles of a fused loop over rows and columns, whose number is known at run
// time: the divisors are not 0 where the loop runs.
TEST(PartitionLoopsTest, PositionsInAFusedLoopOfSymbolicExtentAreSeparated) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@T.prim_func
def main(n: T.int64, A: T.Buffer((64,), "float32"), B: T.Buffer((8,), "float32")):
    for f in range((n + 3) // 4 * 2):
        for k in range(8):
            for v in T.unroll(4):
                if f % ((n + 3) // 4) * 4 + v < n:
                    A[f % ((n + 3) // 4) * 4 + v] = A[f % ((n + 3) // 4) * 4 + v] + B[k]
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function out,
                            PartitionLoops(module.functions[0]));
  const std::string text = Print(out);
  EXPECT_THAT(text,
              HasSubstr("for f in range((n + 3) // 4 * 2):\n            if "));
}

// Tiles of `rows` and `lanes` over n rows and m columns.
std::string SymbolicTile(int rows, int lanes) {
  const std::string r = std::to_string(rows), v = std::to_string(lanes);
  const std::string row = "i * " + r + " + r", column = "j * " + v + " + v";
  return R"(
@T.prim_func
def main(n: T.int64, m: T.int64, A: T.Buffer((16, 8), "float32"), B: T.Buffer((8, 16), "float32"),
         C: T.Buffer((16, 16), "float32")):
    for i, j in T.grid((n + )" +
         std::to_string(rows - 1) + ") // " + r + ", (m + " +
         std::to_string(lanes - 1) + ") // " + v + R"():
        for k in range(8):
            for r in T.unroll()" +
         r + R"():
                for v in T.vectorized()" +
         v + R"():
                    if )" +
         row + " < n and " + column + " < m:\n                        C[" +
         row + ", " + column + "] = C[" + row + ", " + column + "] + A[" + row +
         ", k] * B[k, " + column + "]\n";
}

TEST(PartitionLoopsTest, BordersOfUnknownSizeHaveNoConditionsInside) {
  for (const auto& [rows, lanes] :
       {std::pair(1, 8), {4, 1}, {4, 8}, {6, 4}, {3, 2}}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                              ParseModule("m.py", SymbolicTile(rows, lanes)));
    const Function& f = module.functions[0];
    KILN_ASSERT_OK_AND_ASSIGN(const Function hoisted, HoistInvariantIfs(f));
    KILN_ASSERT_OK_AND_ASSIGN(const Function out, PartitionLoops(hoisted));
    EXPECT_EQ(ConditionsInside(out, "k"), 0) << Print(out);
    for (int n : {0, 1, 2, 3, 4, 5, 7, 8, 13, 16}) {
      for (int m : {0, 1, 7, 8, 9, 15, 16}) {
        const VarMap sizes = {{f.params[0].var.get(), Int(n)},
                              {f.params[1].var.get(), Int(m)}};
        KILN_EXPECT_OK(lower::CompareMeaning(SubstituteDims(f, sizes),
                                             SubstituteDims(out, sizes), 3));
      }
    }
  }
}

// Seven copies of 128 statements would be too long.
TEST(PartitionLoopsTest, LongBordersKeepTheirConditions) {
  std::string text = SymbolicTile(8, 1);
  text.replace(text.find("for k in range(8)"), 17, "for k in T.unroll(64)");
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", text));
  KILN_ASSERT_OK_AND_ASSIGN(const Function out,
                            PartitionLoops(module.functions[0]));
  EXPECT_GT(ConditionsInside(out, "k"), 0) << Print(out);
}

TEST(PartitionLoopsTest, ConditionsOnParametersAloneMakeNoCopies) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@T.prim_func
def main(n: T.int64, m: T.int64, A: T.Buffer((16,), "float32")):
    for i, j in T.grid(4, 4):
        A[i * 4 + j] = T.if_then_else(n < 0, T.float32(1), T.if_then_else(m < n, T.float32(2), T.float32(3)))
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function out,
                            PartitionLoops(module.functions[0]));
  EXPECT_THAT(Print(out), Not(HasSubstr("else:")));
}

}  // namespace
}  // namespace kiln
