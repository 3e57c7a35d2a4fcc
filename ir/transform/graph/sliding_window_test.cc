#include "kiln/ir/transform/graph/sliding_window.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

// Y[i, j, c] sums up `value` over `taps` x 3 neighbours.
bool Slides(const std::string& value, const std::string& taps = "3",
            const std::string& init = "Y[vi, vj, vc] = T.float32(0)") {
  const Module module = ReadModule(R"(
@T.prim_func
def main(X: T.Buffer((12, 12, 16), "float32"), W: T.Buffer((3, 3, 16), "float32"), Y: T.Buffer((10, 10, 16), "float32")):
    for i, j, c, y, x in T.grid(10, 10, 16, )" +
                                   taps + R"(, 3):
        with T.block("Y"):
            vi, vj, vc, vy, vx = T.axis.remap("SSSRR", [i, j, c, y, x])
            with T.init():
                )" + init + R"(
            Y[vi, vj, vc] = Y[vi, vj, vc] + )" +
                                   value + "\n");
  return IsSlidingWindow(module.functions.at(0));
}

TEST(SlidingWindowTest, ChannelsAreApart) {
  EXPECT_TRUE(Slides("X[vi + vy, vj + vx, vc] * W[vy, vx, vc]"));
  EXPECT_TRUE(Slides("X[vi + vy, vj + vx, vc // 1 * 1]"));
  EXPECT_TRUE(Slides("X[vi + vy, vj + vx, vc % 16]"));
  EXPECT_FALSE(Slides("X[vi + vy, vj, (vc + vx) % 16]"));
  EXPECT_FALSE(Slides("X[vi + vy, vc % 12, vj + vx]"));
  EXPECT_FALSE(Slides("X[vi + vy, vj + vx, vc] * W[vy, vc % 3, vx]"));
}

TEST(SlidingWindowTest, TapsAreFew) {
  EXPECT_TRUE(Slides("X[vi, vj + vx, vc]", "21"));
  EXPECT_FALSE(Slides("X[vi, vj + vx, vc]", "22"));
}

TEST(SlidingWindowTest, SomethingIsReduced) {
  const Module module = ReadModule(R"(
@T.prim_func
def main(X: T.Buffer((12, 16), "float32"), Y: T.Buffer((12, 16), "float32")):
    for i, c in T.grid(12, 16):
        with T.block("Y"):
            vi, vc = T.axis.remap("SS", [i, c])
            Y[vi, vc] = X[vi, vc]
)");
  EXPECT_FALSE(IsSlidingWindow(module.functions.at(0)));
}

}  // namespace
}  // namespace kiln
