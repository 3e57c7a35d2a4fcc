#include "kiln/schedule/analysis/neutral.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// A sum of n values in 16 partial sums, of which the last ones stay empty where
// n < 16: INIT stands in each before, UPDATE lets values in, BLOCK leaves
// partial sums out.
struct Parts {
  const char* init = "T.float32(0)";
  const char* update = "k * 16 + j < 10";
  const char* block = "j < 10";
};

bool Matters(const Parts& parts) {
  const Function f =
      ParseProgram(absl::StrReplaceAll(R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), C: T.Buffer((1,), "float32")):
    P = T.alloc_buffer((16,))
    for j in range(16):
        with T.block("P_init"):
            vj = T.axis.spatial(16, j)
            P[vj] = INIT
    for j, k in T.grid(16, 1):
        with T.block("P_update"):
            vj = T.axis.spatial(16, j)
            vk = T.axis.reduce(1, k)
            T.where(UPDATE)
            P[vj] = P[vj] + A[vk * 16 + vj]
    for o, j in T.grid(1, 16):
        with T.block("C"):
            vo = T.axis.spatial(1, o)
            vj = T.axis.reduce(16, j)
            T.where(BLOCK)
            with T.init():
                C[vo] = T.float32(0)
            C[vo] = C[vo] + P[vj]
)",
                                       {{"INIT", parts.init},
                                        {"UPDATE", parts.update},
                                        {"BLOCK", parts.block}}));
  const Scope scope(*f.body.As<BlockRealizeNode>()->block);
  return static_cast<bool>(
      WhyConditionMatters(scope, scope.IndexOf(BlockNamed(f, "C"))));
}

TEST(NeutralTest, PartialSumsThatStayEmptyMayBeAdded) {
  EXPECT_FALSE(Matters({}));
  EXPECT_FALSE(Matters({.update = "k * 16 + j < 7"}));
}

TEST(NeutralTest, OthersMayNot) {
  EXPECT_TRUE(Matters({.init = "T.float32(1)"}));
  EXPECT_TRUE(Matters({.block = "j < 9"}));
}

}  // namespace
}  // namespace kiln
