// Copies that make an operand wide: into which loop they go, and that programs
// compute the same.
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

// W, of A of `type` at `at`, times B.
Module Product(const std::string& type, const std::string& at,
               const std::string& other = "B") {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((24, 24), "$0"), B: T.Buffer((24, 24), "float32"),
         C: T.Buffer((24, 24), "float32")):
    W = T.alloc_buffer((24, 24), "float32")
    for i, k in T.grid(24, 24):
        with T.block("W"):
            vi, vk = T.axis.remap("SS", [i, k])
            W[vi, vk] = T.Cast("float32", A[vi, vk])
    for i, j, k in T.grid(24, 24, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + W[$1] * $2[vk, vj]
)",
                                       type, at, other));
}

TEST(NearCopiesTest, RowsGoIntoTheLoopOfRows) {
  const Module module = Product("int8", "vi, vk");
  const std::vector<Schedule> made = ApplyRule(NearCopies, module, "W");
  ASSERT_EQ(made.size(), 1u);
  const std::string trace = ToText(made[0].trace());
  EXPECT_THAT(trace, HasSubstr("sch.compute_at"));
  EXPECT_THAT(trace, HasSubstr("sch.vectorize"));
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountRootLoops(f), 1);
  }
}

TEST(NearCopiesTest, NoElementIsMadeAgain) {
  EXPECT_TRUE(ApplyRule(NearCopies, Product("int8", "vk, vj"), "W").empty());
  // Both operands of a product with itself.
  EXPECT_TRUE(
      ApplyRule(NearCopies, Product("int8", "vi, vk", "W"), "W").empty());
}

TEST(NearCopiesTest, OtherCopiesStay) {
  EXPECT_TRUE(ApplyRule(NearCopies, Product("float32", "vi, vk"), "W").empty());
  EXPECT_TRUE(ApplyRule(NearCopies, Product("float64", "vi, vk"), "W").empty());
}

TEST(NearCopiesTest, TilesOfAnyShape) {
  const std::vector<ScheduleRule> rules =
      RulesNamed({"wide-operands", "register-tiling", "near-copies",
                  "parallelize-vectorize"});
  for (const int rows : {17, 24, 33}) {
    for (const int columns : {5, 40, 49}) {
      SCOPED_TRACE(absl::Substitute("$0 x $1", rows, columns));
      const Module module = ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(P: T.Buffer((3, $0, 19), "bfloat16"), V: T.Buffer((3, 19, $1), "int8"),
         C: T.Buffer((3, $0, $1), "float32")):
    for b, i, j, k in T.grid(3, $0, $1, 19):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + T.Cast("float32", P[vb, vi, vk]) * T.Cast("float32", V[vb, vk, vj])
)",
                                                          rows, columns));
      const auto made = ApplyRules(module, rules, RuleContext(), 4);
      ASSERT_FALSE(made.empty());
      EXPECT_THAT(ToText(made[0].trace()), HasSubstr("sch.compute_at"));
      ExpectSameMeaning(module, made, 2);
    }
  }
}

}  // namespace
}  // namespace kiln
