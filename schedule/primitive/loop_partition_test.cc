#include "kiln/schedule/primitive/loop_partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;
constexpr auto kBad = absl::StatusCode::kInvalidArgument;

Function Adding(const std::string& loop = "range(20)",
                const std::string& where = "") {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3, 20), "float32"), B: T.Buffer((3, 20), "float32"), C: T.Buffer((3, 20), "float32")):
    for o in range(3):
        for i in )" + loop +
                      R"(:
            with T.block("B"):
                vo, vi = T.axis.remap("SS", [o, i])
)" + where + R"(
                B[vo, vi] = A[vo, vi] + T.float32(1)
            with T.block("C"):
                vo, vi = T.axis.remap("SS", [o, i])
                C[vo, vi] = B[vo, vi] * T.float32(2)
)");
}

absl::StatusOr<LoopPartitionResult> Partition(
    const Function& f, const std::vector<std::optional<int64_t>>& factors,
    size_t depth = 1) {
  return LoopPartition(f, LoopsOf(f, "B").at(depth), factors);
}

TEST(LoopPartition, CutsALoopIntoPartsAndTheRest) {
  const Function f = Adding();
  KILN_ASSERT_OK_AND_ASSIGN(const LoopPartitionResult result,
                            Partition(f, {1, 7}));
  const Function& g = result.function;
  ASSERT_EQ(result.loops.size(), 3);
  const int64_t begins[] = {0, 1, 8}, extents[] = {1, 7, 12};
  for (int i = 0; i < 3; ++i) {
    const ForNode& loop = LoopById(g, result.loops[i]);
    EXPECT_EQ(*AsInt(loop.min), begins[i]);
    EXPECT_EQ(*AsInt(loop.extent), extents[i]);
    EXPECT_EQ(loop.var.name(), "i" + std::to_string(i));
    const BlockNode& block = *RealizeNamed(g, "B_i" + std::to_string(i)).block;
    EXPECT_EQ(*AsInt(block.iters[1].domain.min), begins[i]);
  }
  const BlockNode& common = *RealizeNamed(g, "B_i_common").block;
  EXPECT_EQ(common.writes.size(), 2);
  EXPECT_EQ(*AsInt(common.writes[0].region[1].extent), 20);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(LoopPartition, OneFactorMayBeOpen) {
  const Function f = Adding();
  KILN_ASSERT_OK_AND_ASSIGN(const LoopPartitionResult result,
                            Partition(f, {2, std::nullopt, 3}));
  ASSERT_EQ(result.loops.size(), 3);
  EXPECT_EQ(*AsInt(LoopById(result.function, result.loops[1]).extent), 15);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(LoopPartition, OfAnOuterLoopAndOfAPartAgain) {
  const Function f = Adding();
  KILN_ASSERT_OK_AND_ASSIGN(const LoopPartitionResult outer,
                            Partition(f, {1}, 0));
  KILN_EXPECT_OK(CheckSameResults(f, outer.function, 3));
  KILN_ASSERT_OK_AND_ASSIGN(
      const LoopPartitionResult inner,
      LoopPartition(outer.function, LoopsOf(outer.function, "B_o1").at(1),
                    {4, 4}));
  KILN_EXPECT_OK(CheckSameResults(f, inner.function, 4));
}

TEST(LoopPartition, OfASpatialLoopOfASum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), B: T.Buffer((6,), "float32")):
    for i, k in T.grid(6, 5):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const LoopPartitionResult result,
                            Partition(f, {2}, 0));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 5));
  EXPECT_THAT(Partition(f, {2}, 1), StatusIs(kRefused, HasSubstr("spatial")));
}

TEST(LoopPartition, RefusesPartsThatDoNotFit) {
  const Function f = Adding();
  for (const auto& factors : std::vector<std::vector<std::optional<int64_t>>>{
           {},
           {0},
           {-1},
           {20},
           {8, 13},
           {std::nullopt, std::nullopt},
           {20, std::nullopt},
           {int64_t{1} << 62, int64_t{1} << 62}}) {
    EXPECT_THAT(Partition(f, factors), StatusIs(kBad, HasSubstr("left")));
  }
}

TEST(LoopPartition, RefusesLoopsOfAKindAndConditions) {
  EXPECT_THAT(Partition(Adding("T.parallel(20)"), {3}),
              StatusIs(kRefused, HasSubstr("parallel")));
  EXPECT_THAT(
      Partition(Adding("T.thread_binding(20, thread=\"threadIdx.x\")"), {3}),
      StatusIs(kRefused, HasSubstr("lost")));
  EXPECT_THAT(
      Partition(Adding("range(20)", "                T.where(i < 19)"), {3}),
      StatusIs(kRefused, HasSubstr("gaps")));
}

TEST(LoopPartition, RefusesExtentsThatAreNotKnown) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi]
)");
  EXPECT_THAT(Partition(f, {3}, 0),
              StatusIs(kRefused, HasSubstr("not constant")));
}

}  // namespace
}  // namespace kiln
