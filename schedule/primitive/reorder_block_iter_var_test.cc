#include "kiln/schedule/primitive/reorder_block_iter_var.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Product(const std::string& iters, const std::string& binding) {
  return R"(
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), B: T.Buffer((6, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for i, j, k in T.grid(4, 8, 6):
        with T.block("C"):
            )" +
         iters + " = T.axis.remap(" + binding + R"()
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";
}

constexpr char kScalar[] = R"(
@T.prim_func
def main(A: T.Buffer((), "float32")):
    with T.block("A"):
        A[()] = T.float32(1)
)";

TEST(ReorderBlockIterVar, PermutesIteratorsWithTheirBindings) {
  const Function f = ParseProgram(Product("vi, vj, vk", "\"SSR\", [i, j, k]"));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g, ReorderBlockIterVar(f, BlockNamed(f, "C"), {2, 0, 1}));
  const Function expected =
      ParseProgram(Product("vk, vi, vj", "\"RSS\", [k, i, j]"));
  EXPECT_EQ(FirstDifference(g, expected), std::nullopt);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(ReorderBlockIterVar, TheInverseOrderGivesTheBlockBack) {
  const Function f = ParseProgram(Product("vi, vj, vk", "\"SSR\", [i, j, k]"));
  const BlockId block = BlockNamed(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            ReorderBlockIterVar(f, block, {2, 0, 1}));
  KILN_ASSERT_OK_AND_ASSIGN(const Function h,
                            ReorderBlockIterVar(g, block, {1, 2, 0}));
  const auto& before = RealizeNamed(f, "C").block->iters;
  const auto& after = RealizeNamed(h, "C").block->iters;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(before[i].var, after[i].var);
}

TEST(ReorderBlockIterVar, ABlockWithoutIteratorsHasOneOrder) {
  const Function f = ParseProgram(kScalar);
  KILN_EXPECT_OK(ReorderBlockIterVar(f, BlockNamed(f, "A"), {}));
}

TEST(ReorderBlockIterVar, RefusesAnythingButAPermutation) {
  const Function f = ParseProgram(Product("vi, vj, vk", "\"SSR\", [i, j, k]"));
  const std::vector<std::vector<int64_t>> orders = {
      {}, {0, 1}, {0, 1, 2, 3}, {0, 1, 1}, {-1, 3, 2}, {0, 1, 3}};
  for (const auto& order : orders) {
    EXPECT_THAT(ReorderBlockIterVar(f, BlockNamed(f, "C"), order),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("is no order of the 3 iterators")));
  }
  EXPECT_THAT(ReorderBlockIterVar(f, 999, {0}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no block 999")));
}

}  // namespace
}  // namespace kiln
