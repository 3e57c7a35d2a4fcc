#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(CacheInGathersTest, ACopyReadsWhatItsBoxLoads) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((4, 3), "float32"), P: T.Buffer((3,), "int32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(P[0])
            T.writes(X[vi, P[0]])
            for j in range(1):
                with T.block("X"):
                    vj = T.axis.spatial(1, j)
                    X[vi, P[vj]] = T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(const CacheResult cached,
                            CacheWrite(f, BlockNamed(f, "X"), 0, "global", {}));
  EXPECT_THAT(PrintFunction(cached.function),
              HasSubstr("T.reads(P[0], X_global[v0, v1])"));
  KILN_EXPECT_OK(VerifyFunction(cached.function));
}

TEST(CacheInGathersTest, RefusesABoxThatMovesMeanwhile) {
  const auto program = [](const std::string& blocks) {
    return ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((4, 3), "float32"), P: T.Buffer((3,), "int32")):
    for i in range(4):
        with T.block("row"):
            vi = T.axis.spatial(4, i)
            T.reads(P[0:3])
            T.writes(X[vi, 0:3], P[0:3])
            for j in range(1):
                with T.block("X"):
                    vj = T.axis.spatial(1, j)
                    X[vi, P[vj]] = T.float32(1)
)" + blocks);
  };
  const Function still = program("");
  KILN_EXPECT_OK(
      CacheWrite(still, BlockNamed(still, "X"), 0, "global", {}).status());
  const Function moves = program(R"(
            for j in range(1):
                with T.block("P"):
                    vj = T.axis.spatial(1, j)
                    P[vj] = (P[vj] + 1) % 3
)");
  EXPECT_THAT(CacheWrite(moves, BlockNamed(moves, "X"), 0, "global", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("depends on what `P` holds")));
}

}  // namespace
}  // namespace kiln
