#include "kiln/codegen/lower/guards/fold_modulo_guards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// After the pass, which keeps the meaning of `body` for each p of 12 and y of
// `taps`.
std::string Trimmed(const std::string& body, int taps = 2) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), C: T.Buffer((16,), "float32"),
         D: T.Buffer((16,), "int64")):
    for p in range(12):
        for y in range()" + std::to_string(taps) +
                           "):\n" + body;
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  Function& f = module->functions[0];
  absl::StatusOr<Function> trimmed = FoldModuloGuards(f);
  EXPECT_TRUE(trimmed.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(f, *trimmed, 3));
  f = *trimmed;
  return PrintModule(*module);
}

std::string If(const std::string& condition) {
  return "            if " + condition +
         ":\n                C[p] = C[p] + A[p * 2 + y]\n";
}

TEST(FoldModuloGuardsTest, OneIterationIsLeft) {
  for (const char* condition :
       {"(p + y) % 2 == 0", "(p + y) % 2 == 1", "(p * 3 + 5 - y) % 2 == 0",
        "p < 7 and (p + y * 3) % 2 == 0", "(p * 2 - y * 5) % 2 == 1",
        "(p * 9223372036854775 + y * 4611686018427387) % 2 == 0"}) {
    const std::string text = Trimmed(If(condition));
    EXPECT_THAT(text, Not(HasSubstr("== "))) << condition << text;
    EXPECT_THAT(text, Not(HasSubstr("range(2)"))) << condition << text;
  }
  EXPECT_THAT(Trimmed(If("(p + y * 2) % 5 == 3"), 5), Not(HasSubstr("== ")));
}

TEST(FoldModuloGuardsTest, TheConditionMayStandInAllBranches) {
  const std::string text = Trimmed(R"(
            if p < 5:
                for k in range(3):
                    if (p + y) % 2 == 0:
                        C[p] = C[p] + A[p + y + k]
            else:
                if (p + y) % 2 == 0:
                    C[p] = C[p] + A[p + y]
)");
  EXPECT_THAT(text, Not(HasSubstr("== "))) << text;
}

TEST(FoldModuloGuardsTest, ARemainderThatNoneLeavesIsNotTakenForAnother) {
  for (const char* condition :
       {"(p + y) % 2 == 2", "(p + y) % 2 == 5", "(p + y) % 2 == -1"}) {
    EXPECT_THAT(Trimmed(If(condition)), HasSubstr("== ")) << condition;
  }
}

// The divisor is 0 where the outer condition fails.
TEST(FoldModuloGuardsTest, ADivisionThatAConditionGuardsStaysBehindIt) {
  EXPECT_THAT(Trimmed(R"(
            if 3 < p:
                if (5 // (p - 3) + y) % 2 == 0:
                    C[p] = C[p] + A[p + y]
)"),
              HasSubstr("== 0"));
}

TEST(FoldModuloGuardsTest, OtherLoopsStayAsTheyAre) {
  for (const char* condition :
       {"(p + y * 2) % 4 == 0", "(p + y) % 3 == 0", "p + y == 4",
        "(p + D[y]) % 2 == 0", "(p + y // 2) % 2 == 0", "(p + y) % 2 < 1"}) {
    EXPECT_THAT(Trimmed(If(condition)), HasSubstr("if ")) << condition;
  }
  const std::string one_more = "            C[p] = C[p] + A[y]\n";
  EXPECT_THAT(Trimmed(If("(p + y) % 2 == 0") + one_more), HasSubstr("== 0"));
}

TEST(FoldModuloGuardsTest, LoopsThatDoNotStartAtZeroAndOddDivisors) {
  for (const int first : {1, 2, 7}) {
    for (const int m : {3, 4, 5}) {
      const std::string k = "range(" + std::to_string(first) + ", " +
                            std::to_string(first + m) + ")";
      const std::string text =
          Trimmed("            for k in " + k +
                  ":\n                if (p + y * 3 - k * " +
                  std::to_string(m + 1) + ") % " + std::to_string(m) +
                  " == 1:\n                    C[p] = C[p] + A[p + y + k]\n");
      EXPECT_THAT(text, Not(HasSubstr("== 1"))) << text;
    }
  }
}

TEST(FoldModuloGuardsTest, LongLoopsStay) {
  const std::string text = Trimmed(R"(
            if (p + y) % 1000 == 999:
                C[p] = C[p] + A[y % 64]
)",
                                   1000);
  EXPECT_THAT(text, HasSubstr("== 999"));
}

TEST(FoldModuloGuardsTest, OfTwoLoopsTheInnerOneIsTrimmed) {
  EXPECT_THAT(Trimmed(R"(
            for k in range(2):
                if (k + y) % 2 == 0:
                    C[p] = C[p] + A[p + y + k * 3]
)"),
              Not(HasSubstr("== 0")));
}

}  // namespace
}  // namespace kiln
