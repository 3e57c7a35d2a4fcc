#include "kiln/schedule/primitive/decompose_padding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

// P of 6 x 9 from A of 4 x 7, by `store`.
Function Pad(const std::string& store) {
  return ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 7), "float32"), P: T.Buffer((6, 9), "float32")):
    for i, j in T.grid(6, 9):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            )" + store +
                      "\n");
}

Function Pad() {
  return Pad(
      "P[vi, vj] = T.if_then_else(1 <= vi and vi < 5 and vj >= 2 and vj <= 8, "
      "A[vi - 1, vj - 2], T.float32(3))");
}

TEST(DecomposePadding, FillsAndCopiesAtEveryLoop) {
  const Function f = Pad();
  const auto loops = LoopsOf(f, "P");
  for (LoopId loop : loops) {
    KILN_ASSERT_OK_AND_ASSIGN(const DecomposePaddingResult result,
                              DecomposePadding(f, BlockNamed(f, "P"), loop));
    EXPECT_EQ(BlockNamed(result.function, "P_pad_const"), result.fill);
    EXPECT_EQ(LoopsOf(result.function, "P"), loops);
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
  }
}

TEST(DecomposePadding, FillsWithConstantsOfAnyForm) {
  for (const char* fill :
       {"T.exp(T.float32(1))", "T.min_value(\"float32\")",
        "T.Cast(\"float32\", T.int32(3))", "T.float32(-1)"}) {
    const Function f = Pad(absl::StrCat(
        "P[vi, vj] = T.if_then_else(1 <= vi and vi < 5 and vj >= 2, "
        "A[vi - 1, vj - 2], ",
        fill, ")"));
    KILN_ASSERT_OK_AND_ASSIGN(
        const DecomposePaddingResult result,
        DecomposePadding(f, BlockNamed(f, "P"), LoopsOf(f, "P")[0]));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
  }
  const Function varies =
      Pad("P[vi, vj] = T.if_then_else(1 <= vi and vi < 5 and vj >= 2, "
          "A[vi - 1, vj - 2], A[0, 0])");
  EXPECT_THAT(
      DecomposePadding(varies, BlockNamed(varies, "P"), LoopsOf(varies, "P")[0])
          .status(),
      StatusIs(kRefused, HasSubstr("constant")));
}

TEST(DecomposePadding, ShortensLoopsToWhatIsCopied) {
  const Function f = Pad();
  const auto loops = LoopsOf(f, "P");
  KILN_ASSERT_OK_AND_ASSIGN(const auto outer,
                            DecomposePadding(f, BlockNamed(f, "P"), loops[0]));
  EXPECT_THAT(Extents(outer.function, "P"), ElementsAre(4, 7));
  EXPECT_THAT(Extents(outer.function, "P_pad_const"), ElementsAre(6, 9));
  EXPECT_TRUE(IsOne(RealizeNamed(outer.function, "P").predicate));
  // The outer loop stays, and with it its condition.
  KILN_ASSERT_OK_AND_ASSIGN(const auto inner,
                            DecomposePadding(f, BlockNamed(f, "P"), loops[1]));
  EXPECT_THAT(Extents(inner.function, "P"), ElementsAre(6, 7));
  EXPECT_FALSE(IsOne(RealizeNamed(inner.function, "P").predicate));
}

TEST(DecomposePadding, OtherConditionsStayConditions) {
  const Function f =
      Pad("P[vi, vj] = T.if_then_else(vi < 4 and vj < 7 and vi + vj != 4 and "
          "vi * 2 <= 5, A[vi, vj], T.float32(0))");
  KILN_ASSERT_OK_AND_ASSIGN(
      const auto result,
      DecomposePadding(f, BlockNamed(f, "P"), LoopsOf(f, "P")[0]));
  EXPECT_THAT(Extents(result.function, "P"), ElementsAre(4, 7));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(DecomposePadding, OfSplitLoops) {
  const Function f = Pad();
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, LoopsOf(f, "P")[1], {std::nullopt, 4}));
  for (LoopId loop : LoopsOf(split.function, "P")) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const auto result,
        DecomposePadding(split.function, BlockNamed(f, "P"), loop));
    KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
  }
}

TEST(DecomposePadding, RefusesOtherStores) {
  for (const char* store :
       {"P[vi, vj] = A[vi % 4, vj % 7]",
        "P[vi, vj] = T.if_then_else(vi < 4, A[vi % 4, 0], A[0, 0])",
        "P[vi, 0] = T.if_then_else(vi < 4, A[vi % 4, 0], T.float32(0))",
        "P[vi // 2, vj] = T.if_then_else(vi < 4, A[vi % 4, 0], T.float32(0))",
        "P[vi, vj] = T.if_then_else(A[0, 0] < T.float32(1), A[1, 0], "
        "T.float32(0))"}) {
    const Function f = Pad(store);
    EXPECT_THAT(DecomposePadding(f, BlockNamed(f, "P"), LoopsOf(f, "P")[0]),
                StatusIs(kRefused, HasSubstr("decompose_padding")))
        << store;
  }
}

TEST(DecomposePadding, RefusesALoopOfOtherBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), C: T.Buffer((6,), "float32")):
    P = T.alloc_buffer((6,))
    for i in range(6):
        with T.block("P"):
            vi = T.axis.spatial(6, i)
            P[vi] = T.if_then_else(vi < 4, A[vi], T.float32(0))
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            C[vi] = P[vi]
)");
  EXPECT_THAT(DecomposePadding(f, BlockNamed(f, "P"), LoopsOf(f, "P")[0]),
              StatusIs(kRefused, HasSubstr("other blocks")));
  EXPECT_FALSE(DecomposePadding(f, BlockNamed(f, "P"), 999).ok());
}

}  // namespace
}  // namespace kiln
