// Each test gives a function and what a pass makes of it, as text; or the same
// text twice where the pass has to leave it alone.
//
//   w = add(a, b); y = matmul(x, w)  →  y = add(matmul(x, a), matmul(x, b))
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

TEST(RearrangeMatmulTest, AnotherNameForACallStays) {
  EXPECT_EQ(
      DifferenceAfter({"reorder_permute_dims_after_concat",
                       "expand_matmul_of_sum", "reorder_take_after_matmul"},
                      R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 8), "float32"), b: R.Tensor((4, 8), "float32"), i: R.Tensor((3,), "int64")):
    w = R.add(a, b)
    y = R.matmul(x, w)
    z = y
    t = R.permute_dims(a)
    c = R.concat((t, t), axis=0)
    d = c
    k = R.take(a, i, axis=1)
    m = R.matmul(x, k)
    o = m
    return (z, d, o)
)",
                      R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 8), "float32"), b: R.Tensor((4, 8), "float32"), i: R.Tensor((3,), "int64")):
    p = R.matmul(x, a)
    q = R.matmul(x, b)
    y = R.add(p, q)
    z = y
    j = R.concat((a, a), axis=1)
    c = R.permute_dims(j)
    d = c
    m = R.take(p, i, axis=1)
    o = m
    return (z, d, o)
)"),
      "");
}

TEST(RearrangeMatmulTest, PrivateFunctionsThatNothingCallsStay) {
  constexpr char kText[] = R"(
@R.function(private=True)
def f(x: R.Tensor((2, 4), "float32")):
    y = R.exp(x)
    return y
)";
  EXPECT_EQ(DifferenceAfter({"expand_matmul_of_sum"}, kText, kText), "");
}

TEST(RearrangeMatmulTest, PermutationsThatAreSpelledInTwoWaysAreOne) {
  EXPECT_EQ(DifferenceAfter({"reorder_permute_dims_after_concat"}, R"(
@R.function
def main(a: R.Tensor((4, 16), "float32"), b: R.Tensor(("k", 16), "float32")):
    with R.dataflow():
        at = R.permute_dims(a)
        bt = R.permute_dims(b, axes=[1, 0])
        w = R.concat((at, bt), axis=1)
        R.output(w)
    return w
)",
                            R"(
@R.function
def main(a: R.Tensor((4, 16), "float32"), b: R.Tensor(("k", 16), "float32")):
    with R.dataflow():
        c = R.concat((a, b), axis=0)
        w = R.permute_dims(c)
        R.output(w)
    return w
)"),
            "");
}

TEST(RearrangeMatmulTest, WhatIsThereAlreadyIsNotComputedTwice) {
  EXPECT_EQ(DifferenceAfter({"expand_matmul_of_sum"}, R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        w = R.add(a, b)
        y = R.matmul(x, w)
        z = R.matmul(x, a)
        R.output(y, z)
    return (y, z)
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 4), "float32"), a: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        p = R.matmul(x, a)
        q = R.matmul(x, b)
        y = R.add(p, q)
        z = p
        R.output(y, z)
    return (y, z)
)"),
            "");
}

TEST(RearrangeMatmulTest, PermutationsOfPermutationsBecomeOneOrNone) {
  EXPECT_EQ(DifferenceAfter({"compose_permute_dims"}, R"(
@R.function
def main(x: R.Tensor((2, 3, 4), "float32")):
    a = R.permute_dims(x, axes=[2, 0, 1])
    b = R.permute_dims(a, axes=[0, 2, 1])
    c = R.permute_dims(a, axes=[1, 2, 0])
    d = R.permute_dims(a)
    y = R.add(c, x)
    return (b, y, d)
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 3, 4), "float32")):
    b = R.permute_dims(x, axes=[2, 1, 0])
    c = x
    d = R.permute_dims(x, axes=[1, 0, 2])
    y = R.add(c, x)
    return (b, y, d)
)"),
            "");
}

}  // namespace
}  // namespace kiln
