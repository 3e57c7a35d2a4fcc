// Producers at every loop of consumers that read around their place and guard
// themselves against the border.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

Function Around(const std::string& value) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((7, 9), "float32"), O: T.Buffer((7, 9), "float32")):
    B = T.alloc_buffer((7, 9))
    for i, j in T.grid(7, 9):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(7, 9):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = )",
                                   value, "\n"));
}

// O in tiles of 4 by 4.
Function Tiled(const Function& f) {
  const auto loops = LoopsOf(f, "O");
  const SplitResult rows = *Split(f, loops[0], {std::nullopt, 4});
  const SplitResult columns =
      *Split(rows.function, loops[1], {std::nullopt, 4});
  return *Reorder(columns.function, {rows.loops[0], columns.loops[0],
                                     rows.loops[1], columns.loops[1]});
}

void ExpectAtEveryLoop(const Function& f) {
  for (const LoopId loop : LoopsOf(f, "O")) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function made,
                              ComputeAt(f, BlockNamed(f, "B"), loop));
    KILN_EXPECT_OK(CheckSameResults(f, made, 3));
  }
}

TEST(ComputeAtBordersTest, EveryWayOfReadingAroundAtEveryLoop) {
  const std::string above =
                        "T.if_then_else(vi > 0, B[vi - 1, vj], T.float32(0))",
                    far =
                        "T.if_then_else(2 <= vi, B[vi - 2, vj], T.float32(1))",
                    right =
                        "T.if_then_else(vj < 8, B[vi, vj + 1], T.float32(0))",
                    corner =
                        "T.if_then_else(vi > 0 and vj + 3 < 9, B[vi - 1, vj + "
                        "3], T.float32(0))",
                    clamped = "B[T.max(vi - 1, 0), T.min(vj + 2, 8)]";
  for (const std::string& value :
       {above, far, right, corner, clamped, above + " + " + far,
        right + " + " + far, corner + " + " + far, corner + " + " + clamped,
        above + " + " + far + " + " + right + " + " + corner}) {
    const Function f = Around(value);
    ExpectAtEveryLoop(f);
    ExpectAtEveryLoop(Tiled(f));
  }
}

// B holds 96 numbers by the digits of their place.
Function Digits(const char* shape, const char* index) {
  return ParseProgram(absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((96,), "float32"), O: T.Buffer((96,), "float32")):
    B = T.alloc_buffer()",
                                   shape, R"()
    for i in range(96):
        with T.block("B"):
            v = T.axis.spatial(96, i)
            B[)",
                                   index, R"(] = A[v] * T.float32(2)
    for i in range(96):
        with T.block("O"):
            v = T.axis.spatial(96, i)
            O[v] = B[)",
                                   index, "]\n"));
}

TEST(ComputeAtDigits, TellTheOneInstanceThatIsWanted) {
  const std::pair<const char*, const char*> layouts[] = {
      {"(6, 16)", "v // 16, v % 16"},
      {"(16, 6)", "v % 16, v // 16"},
      {"(3, 8, 4)", "v // 32, v // 4 % 8, v % 4"}};
  for (const auto& [shape, index] : layouts) {
    const Function f = Digits(shape, index);
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function at,
        ComputeAt(f, BlockNamed(f, "B"), LoopsOf(f, "O")[0], {}));
    EXPECT_EQ(LoopsOf(at, "B"), LoopsOf(at, "O"));
    KILN_EXPECT_OK(CheckSameResults(f, at, 1));
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function reverse,
        ReverseComputeAt(f, BlockNamed(f, "O"), LoopsOf(f, "B")[0], {}));
    EXPECT_EQ(LoopsOf(reverse, "O"), LoopsOf(reverse, "B"));
    KILN_EXPECT_OK(CheckSameResults(f, reverse, 2));
  }
}

TEST(ComputeAtDigits, OfAPartAskForNoMore) {
  const Function f = Digits("(6, 16)", "v // 16, v % 16");
  for (int64_t inner : {4, 16, 32}) {
    const SplitResult split =
        *Split(f, LoopsOf(f, "O")[0], {std::nullopt, inner});
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function g,
        ComputeAt(split.function, BlockNamed(f, "B"), split.loops[0], {}));
    EXPECT_EQ(Extents(g, "B"), (std::vector<int64_t>{96 / inner, inner}));
    KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  }
}

}  // namespace
}  // namespace kiln
