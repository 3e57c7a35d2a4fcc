// Sums written as text, with their axes in any order: the order that the rule
// gives them, and that programs compute the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// C[a, b] += A[a, b, d, c] * B[d, c], in loops of the order `loops`; a is 4, b
// 5, c 6 and d 7.
Module Sum(const std::string& loops, const std::string& extents,
           const std::string& kinds, const std::string& iterators) {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((4, 5, 7, 6), "float32"), B: T.Buffer((7, 6), "float32"), C: T.Buffer((4, 5), "float32")):
    for $0 in T.grid($1):
        with T.block("C"):
            $3 = T.axis.remap("$2", [$0])
            with T.init():
                C[va, vb] = T.float32(0)
            C[va, vb] = C[va, vb] + A[va, vb, vd, vc] * B[vd, vc]
)",
                                       loops, extents, kinds, iterators));
}

std::string TraceOf(const Module& module) {
  const std::vector<Schedule> made = ApplyRule(OrderAxes, module, "C");
  if (made.empty()) return "";
  EXPECT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made);
  return ToText(made[0].trace());
}

TEST(OrderAxesTest, SumsGoOnAsTheLargestOperandDoes) {
  EXPECT_THAT(
      TraceOf(Sum("a, b, c, d", "4, 5, 6, 7", "SSRR", "va, vb, vc, vd")),
      HasSubstr("lambda i0, i1, i2, i3: (i0, i1, i3, i2,)"));
  EXPECT_EQ(TraceOf(Sum("a, b, d, c", "4, 5, 7, 6", "SSRR", "va, vb, vd, vc")),
            "");
}

TEST(OrderAxesTest, ResultsGoOnAsTheirDimensionsDo) {
  EXPECT_THAT(
      TraceOf(Sum("b, a, d, c", "5, 4, 7, 6", "SSRR", "vb, va, vd, vc")),
      HasSubstr("lambda i0, i1, i2, i3: (i1, i0, i2, i3,)"));
}

TEST(OrderAxesTest, ResultsComeBeforeSums) {
  EXPECT_THAT(
      TraceOf(Sum("c, b, a, d", "6, 5, 4, 7", "RSSR", "vc, vb, va, vd")),
      HasSubstr("lambda i0, i1, i2, i3: (i2, i1, i3, i0,)"));
}

TEST(OrderAxesTest, ReductionsThenBecomeOne) {
  const Module module =
      Sum("c, b, a, d", "6, 5, 4, 7", "RSSR", "vc, vb, va, vd");
  const std::vector<Schedule> made = ApplyRules(
      module, RulesNamed({"order-axes", "merge-reductions"}), RuleContext());
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kSerial), 3);
  }
}

}  // namespace
}  // namespace kiln
