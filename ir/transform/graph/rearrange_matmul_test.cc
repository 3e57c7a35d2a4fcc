#include "kiln/ir/transform/graph/rearrange_matmul.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(RearrangeMatmulTest, AProductOfASumIsASumOfProducts) {
  EXPECT_EQ(DifferenceAfter({"expand_matmul_of_sum"}, R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 8), "float32"), b: R.Tensor((4, 8), "float32")):
    w = R.add(a, b)
    y = R.matmul(x, w)
    return y
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 8), "float32"), b: R.Tensor((4, 8), "float32")):
    p = R.matmul(x, a)
    q = R.matmul(x, b)
    y = R.add(p, q)
    return y
)"),
            "");
}

TEST(RearrangeMatmulTest, ASumThatBroadcastsStays) {
  constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 8), "float32"), b: R.Tensor((8,), "float32")):
    w = R.add(a, b)
    y = R.matmul(x, w)
    return y
)";
  EXPECT_EQ(DifferenceAfter({"expand_matmul_of_sum"}, kText, kText), "");
}

}  // namespace
}  // namespace kiln
