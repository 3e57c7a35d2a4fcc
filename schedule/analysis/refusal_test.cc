#include "kiln/schedule/analysis/refusal.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

TEST(RefusalTest, TellsPrimitiveReasonAndWayOut) {
  EXPECT_EQ(Refusal("split", "it is too long", "take less").message(),
            "split: it is too long; take less");
  EXPECT_EQ(Refusal("split", "it is too long").message(),
            "split: it is too long");
  EXPECT_THAT(Refusal("p", "r"),
              StatusIs(absl::StatusCode::kFailedPrecondition, "p: r"));
  EXPECT_THAT(BadArgument("p", "r", "w"),
              StatusIs(absl::StatusCode::kInvalidArgument, "p: r; w"));
}

TEST(RefusalTest, NamesLoopsAndBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((128,), "float32")):
    for i in range(128):
        with T.block("C"):
            vi = T.axis.spatial(128, i)
            A[vi] = T.float32(1)
)");
  EXPECT_EQ(Describe(LoopById(f, LoopsOf(f, "C")[0])),
            "loop `i` of extent 128");
  EXPECT_EQ(Describe(*RealizeNamed(f, "C").block), "block `C`");
}

}  // namespace
}  // namespace kiln
