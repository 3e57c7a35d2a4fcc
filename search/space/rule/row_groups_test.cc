// Which sums of columns go by groups of rows, how large these are, and that the
// sums stay the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// C[i, c] += a term, k in `rows`, of A of `images` x `rows` x `columns`.
Module Sums(int images, int rows, int columns,
            const std::string& term = "A[vi, vk, vc]") {
  return ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, $1, $2), "float32"), B: T.Buffer(($2,), "float32"), C: T.Buffer(($0, $2), "float32")):
    for i, c, k in T.grid($0, $2, $1):
        with T.block("C"):
            vi, vc, vk = T.axis.remap("SSR", [i, c, k])
            with T.init():
                C[vi, vc] = T.float32(0)
            C[vi, vc] = C[vi, vc] + $3
)",
                                       images, rows, columns, term));
}

RuleContext Context(int bytes = 64) {
  RuleContext context;
  context.registers = {.bytes = bytes, .count = 32};
  return context;
}

// Elements of a group, after a look at the meaning; 0: the sum stays.
int64_t GroupOf(const Module& module, const RuleContext& context = Context()) {
  const auto made = ApplyRule(RowGroups, module, "C", context);
  if (made.size() != 1) return 0;
  const auto programs = ExpectSameMeaning(module, made);
  const auto sums = DescribeBlock(programs[0], "C_rf");
  EXPECT_TRUE(sums);
  if (!sums) return 0;
  EXPECT_EQ(sums->ContiguousAxis(), 1);
  EXPECT_EQ(sums->reads[0].strides[1], 1.0);
  return sums->axes[1].extent;
}

TEST(RowGroupsTest, RowsThatFillAFewVectors) {
  EXPECT_EQ(GroupOf(Sums(2, 800, 3)), 96) << "32 divides the rows";
  EXPECT_EQ(GroupOf(Sums(1, 1024, 2)), 64);
  EXPECT_EQ(GroupOf(Sums(1, 320, 5)), 80);
  EXPECT_EQ(GroupOf(Sums(1, 640, 20)), 80);
  EXPECT_EQ(GroupOf(Sums(1, 320, 17)), 272);
  EXPECT_EQ(GroupOf(Sums(2, 800, 3), Context(16)), 24);
}

TEST(RowGroupsTest, ALastGroupMayBeShorter) {
  EXPECT_EQ(GroupOf(Sums(2, 1009, 3)), 96);
  EXPECT_EQ(GroupOf(Sums(1, 331, 7)), 112);
}

TEST(RowGroupsTest, OtherSumsStay) {
  EXPECT_EQ(GroupOf(Sums(1, 800, 16)), 0) << "vectors as they are";
  EXPECT_EQ(GroupOf(Sums(1, 800, 21)), 0) << "more than registers hold";
  EXPECT_EQ(GroupOf(Sums(9, 50, 3)), 0) << "short";
  EXPECT_EQ(GroupOf(Sums(1, 800, 3, "A[vi, vk, vc] * B[vc]")), 0)
      << "not all goes on from row to row";
  EXPECT_EQ(GroupOf(Sums(1, 800, 3, "A[vi, 799 - vk, vc]")), 0);
}

TEST(RowGroupsTest, ProductsWithinRowsGo) {
  EXPECT_EQ(GroupOf(Sums(1, 800, 3, "A[vi, vk, vc] * A[vi, vk, vc]")), 96);
}

}  // namespace
}  // namespace kiln
