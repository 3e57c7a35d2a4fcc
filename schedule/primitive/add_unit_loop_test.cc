#include "kiln/schedule/primitive/add_unit_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFill[] = R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")):
    for i in range(4):
        with T.block("A"):
            vi = T.axis.spatial(4, i)
            A[vi] = T.float32(3)
    with T.block("B"):
        B[()] = T.float32(1)
)";

TEST(AddUnitLoop, StandsDirectlyAboveABlock) {
  const Function f = ParseProgram(kFill);
  KILN_ASSERT_OK_AND_ASSIGN(const AddUnitLoopResult result,
                            AddUnitLoopAboveBlock(f, BlockNamed(f, "A")));
  EXPECT_THAT(LoopNames(result.function, "A"), ElementsAre("i", "u"));
  EXPECT_THAT(Extents(result.function, "A"), ElementsAre(4, 1));
  EXPECT_EQ(LoopsOf(result.function, "A")[1], result.loop);
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 1));
}

TEST(AddUnitLoop, StandsDirectlyAboveALoop) {
  const Function f = ParseProgram(kFill);
  const LoopId i = LoopsOf(f, "A")[0];
  KILN_ASSERT_OK_AND_ASSIGN(const AddUnitLoopResult result,
                            AddUnitLoopAboveLoop(f, i));
  EXPECT_THAT(LoopsOf(result.function, "A"), ElementsAre(result.loop, i));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 2));
}

TEST(AddUnitLoop, GivesALoopToABlockThatHasNone) {
  const Function f = ParseProgram(kFill);
  EXPECT_TRUE(LoopsOf(f, "B").empty());
  KILN_ASSERT_OK_AND_ASSIGN(const AddUnitLoopResult result,
                            AddUnitLoopAboveBlock(f, BlockNamed(f, "B")));
  EXPECT_THAT(Extents(result.function, "B"), ElementsAre(1));
  KILN_EXPECT_OK(CheckSameResults(f, result.function, 3));
}

TEST(AddUnitLoop, RefusesTheRootAndWhatIsNotThere) {
  const Function f = ParseProgram(kFill);
  const auto refused = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(AddUnitLoopAboveBlock(f, f.root().id),
              StatusIs(refused, HasSubstr("root block")));
  EXPECT_THAT(AddUnitLoopAboveBlock(f, 999),
              StatusIs(refused, HasSubstr("no block 999")));
  EXPECT_THAT(AddUnitLoopAboveLoop(f, 999),
              StatusIs(refused, HasSubstr("no loop 999")));
}

}  // namespace
}  // namespace kiln
