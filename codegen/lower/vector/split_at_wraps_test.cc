#include "kiln/codegen/lower/vector/split_at_wraps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The lowered copy of `count` vectors of 8 lanes from `index`, which is
// checked to stay the same.
std::string Split(int count, const std::string& index,
                  const std::string& attrs = "",
                  const std::string& kind = "range") {
  const std::string text = absl::StrCat(
      R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((65536,), "float32")):
    )",
      attrs, R"(
    for y in range(2):
        for x in )",
      kind, "(", count, R"():
            B[y * 32768 + x * 8:y * 32768 + x * 8 + 8] = A[)",
      index, R"(]
)");
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return "";
  const absl::StatusOr<Function> split = SplitAtWraps(module->functions[0]);
  EXPECT_TRUE(split.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *split, 5));
  Module printed;
  printed.functions.push_back(*split);
  return PrintModule(printed);
}

TEST(SplitAtWrapsTest, ALoopEndsWhereTheQuotientChanges) {
  const std::string text =
      Split(100, "T.Ramp(x * 8 + 7, 1, 8) % T.Broadcast(800, 8)");
  EXPECT_THAT(text, HasSubstr("in range(99)"));
  EXPECT_THAT(text, Not(HasSubstr("T.grid(2, 100)")));
}

TEST(SplitAtWrapsTest, ALongLoopTurnsRound) {
  const std::string text =
      Split(700,
            "T.Broadcast(y * 99, 8) + T.Ramp(x * 8, 1, 8) % "
            "T.Broadcast(99, 8)");
  EXPECT_THAT(text, HasSubstr("x_turn in range(7)"));
  EXPECT_THAT(text, HasSubstr("in range(12)"));
}

// Iterations of a parallel loop have to be enough for all threads.
TEST(SplitAtWrapsTest, AParallelLoopIsSplitIntoParallelOnes) {
  const auto split = [](int count, int divisor) {
    return Split(
        count,
        absl::StrCat("T.Ramp(x * 8 + 7, 1, 8) % T.Broadcast(", divisor, ", 8)"),
        "", "T.parallel");
  };
  EXPECT_THAT(split(1000, 4001), HasSubstr("in T.parallel(499)"));
  EXPECT_THAT(split(2000, 4001), Not(HasSubstr("T.parallel(2000)")));
  EXPECT_THAT(split(1000, 999), HasSubstr("x in T.parallel(1000)"))
      << "pieces that take less time than their start";
  EXPECT_THAT(split(2000, 264), HasSubstr("x in T.parallel(2000)"))
      << "few turns";
  EXPECT_THAT(split(3300, 264), HasSubstr("x_turn in T.parallel(100)"));
}

TEST(SplitAtWrapsTest, WhatMovesWithOtherLoopsStays) {
  const std::string index = "T.Ramp(x * 8 + y, 1, 8) % T.Broadcast(800, 8)";
  EXPECT_THAT(Split(100, index), HasSubstr("T.grid(2, 100)"));
}

// Values of a loop that begins far from 0 are no reason for an overflow.
TEST(SplitAtWrapsTest, ALoopMayBeginAnywhere) {
  const int64_t min = int64_t{1} << 52;
  const std::string text =
      absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), B: T.Buffer((65536,), "float32")):
    for x in range()",
                   min, ", ", min + 100, R"():
        B[x * 8 - )",
                   min * 8, ":x * 8 - ", min * 8 - 8,
                   R"(] = A[T.Ramp(x * 1024, 1, 8) % T.Broadcast(999, 8)]
)");
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Function> split = SplitAtWraps(module->functions[0]);
  ASSERT_TRUE(split.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(module->functions[0], *split, 5));
}

TEST(SplitAtWrapsTest, SmallDivisorsStay) {
  const std::string index = "T.Ramp(x * 8, 1, 8) // T.Broadcast(3, 8)";
  EXPECT_THAT(Split(100, index), HasSubstr("T.grid(2, 100)"));
}

TEST(SplitAtWrapsTest, WhatIsNotAutomaticStays) {
  const std::string index = "T.Ramp(x * 8 + 7, 1, 8) % T.Broadcast(800, 8)";
  EXPECT_THAT(Split(100, index, "T.func_attr({\"kiln.auto\": False})"),
              HasSubstr("T.grid(2, 100)"));
}

TEST(SplitAtWrapsTest, AnyDivisorsKeepTheMeaning) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const int step = 1 + random() % 2, shift = random() % 300;
    const int inner = 1 + random() % 3, divisor = 1 + random() % 200;
    const int outer = 1 + random() % 200, count = 33 + random() % 500;
    const std::string lanes =
        absl::StrCat("T.Ramp(x * 8 + ", shift, ", ", step, ", 8)");
    const std::string first =
        absl::StrCat(lanes, " // T.Broadcast(", inner, ", 8)");
    Split(count, absl::StrCat(first, " % T.Broadcast(", divisor, ", 8) + ",
                              lanes, " // T.Broadcast(", outer,
                              ", 8) % T.Broadcast(", inner, ", 8)"));
    if (HasFailure()) FAIL() << "the random program " << i;
  }
}

}  // namespace
}  // namespace kiln
