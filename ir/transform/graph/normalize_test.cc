#include "kiln/ir/transform/graph/normalize.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(NormalizeTest, ResultsAndBlocksAreKnown) {
  EXPECT_EQ(DifferenceAfter({"normalize"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor(ndim=1):
    return R.multiply(R.add(x, x), x)
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a = R.add(x, x)
    b = R.multiply(a, x)
    return b
)"),
            "");
}

}  // namespace
}  // namespace kiln
