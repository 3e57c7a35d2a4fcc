#include "kiln/codegen/lower/guards/tighten_loop_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// `body` under `condition`, in `k_loop` for each i of 16 and j of 3.
Function Guarded(const std::string& condition,
                 const std::string& body = "C[i] = C[i] + A[(i + j + k) % 16]",
                 const std::string& k_loop = "range(4)") {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32"),
         D: T.Buffer((16,), "int64")):
    for i in range(16):
        for j in range(3):
            if )" + condition +
                           ":\n                for k in " + k_loop +
                           ":\n                    " + body + "\n";
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module->functions[0];
}

std::string Trimmed(const Function& f) {
  absl::StatusOr<Function> trimmed = TightenLoopBounds(f);
  EXPECT_TRUE(trimmed.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(f, *trimmed, 3));
  Module module;
  module.functions.push_back(*trimmed);
  return PrintModule(module);
}

TEST(TightenLoopBoundsTest, ASumRunsOnlyWhereItsConditionHolds) {
  for (const char* condition :
       {"1 <= i + j and i + j < 15", "i + j > 4 and j <= i", "j < i - 20",
        "2 - j >= i", "j == j and 3 * i + j < 30"}) {
    const std::string text = Trimmed(Guarded(condition));
    EXPECT_THAT(text, HasSubstr("T.max(")) << condition;
    EXPECT_THAT(text, Not(HasSubstr("if i"))) << condition;
  }
}

TEST(TightenLoopBoundsTest, WhatIsNoLimitOfTheVariableStays) {
  for (const char* condition :
       {"2 * j < i", "(i + j) % 2 == 0", "j == i", "D[j] < i", "i < 3",
        "j // 2 < i", "j < D[i]", "j < 2 or i < 3"}) {
    EXPECT_THAT(Trimmed(Guarded(condition)), HasSubstr("if ")) << condition;
  }
}

TEST(TightenLoopBoundsTest, OtherConjunctsStayInside) {
  const std::string text = Trimmed(Guarded("j < i and (i + j) % 2 == 0"));
  EXPECT_THAT(text, HasSubstr("% 2"));
  EXPECT_THAT(text, HasSubstr("T.min("));
}

// Tiles keep their extents, which partition_loops makes constant inside.
TEST(TightenLoopBoundsTest, LoopsOverWhatIsStoredKeepTheirExtents) {
  EXPECT_THAT(Trimmed(Guarded("i + j < 16", "C[i + j] = C[i + j] + A[k]")),
              HasSubstr("if i"));
}

TEST(TightenLoopBoundsTest, LoopsWithoutLoopsInsideKeepTheirExtents) {
  EXPECT_THAT(
      Trimmed(Guarded("i + j < 16", "C[i] = C[i] + A[i + j]", "T.unroll(4)")),
      HasSubstr("if i"));
}

}  // namespace
}  // namespace kiln
