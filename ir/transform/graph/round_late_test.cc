// Which roundings move, as text; and what a chain computes.
#include "kiln/ir/transform/graph/round_late.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

const std::vector<std::string> kPasses = {"round_late", "dce"};

TEST(RoundLateTest, AChainRoundsOnce) {
  EXPECT_EQ(DifferenceAfter(kPasses, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), b: R.Tensor((2,), "bfloat16"), o: R.Tensor((2, 2), "bfloat16")):
    with R.dataflow():
        h = R.astype(x, "bfloat16")
        s = R.add(h, b)
        t = R.multiply(o, s)
        c = R.clip(t, R.prim_value(T.bfloat16(0.0)), R.prim_value(T.bfloat16(2.0)))
        R.output(c)
    return c
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), b: R.Tensor((2,), "bfloat16"), o: R.Tensor((2, 2), "bfloat16")):
    with R.dataflow():
        fb = R.astype(b, "float32")
        s = R.add(x, fb)
        fo = R.astype(o, "float32")
        t = R.multiply(fo, s)
        u = R.clip(t, R.prim_value(T.float32(0.0)), R.prim_value(T.float32(2.0)))
        c = R.astype(u, "bfloat16")
        R.output(c)
    return c
)"),
            "");
}

TEST(RoundLateTest, ARoundingThatIsTakenBackGoes) {
  EXPECT_EQ(DifferenceAfter(kPasses, R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        h = R.astype(x, "float16")
        r = R.nn.relu(h)
        f = R.astype(r, "float32")
        y = R.exp(f)
        R.output(y)
    return y
)",
                            R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        r = R.nn.relu(x)
        y = R.exp(r)
        R.output(y)
    return y
)"),
            "");
}

TEST(RoundLateTest, WhatOthersReadStays) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((2, 2), "float32"), i: R.Tensor((2, 2), "int32")):
    with R.dataflow():
        h = R.astype(x, "float16")
        r = R.nn.relu(h)
        p = R.matmul(h, r)
        w = R.astype(x, "float64")
        v = R.sin(w)
        n = R.astype(x, "float16")
        m = R.round(n)
        k = R.astype(i, "float16")
        l = R.nn.relu(k)
        R.output(p, v, m, l)
    q = R.astype(x, "float16")
    z = R.nn.relu(q)
    return (p, v, m, l, z)
)";
  EXPECT_EQ(DifferenceAfter(kPasses, text, text), "");
}

// The last cast is given out, in the type that it has.
TEST(RoundLateTest, WhatIsGivenOutKeepsItsType) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((2, 2), "float32")):
    with R.dataflow():
        h = R.astype(x, "float16")
        f = R.astype(h, "float32")
        R.output(f)
    return f
)";
  EXPECT_EQ(DifferenceAfter(kPasses, text, text), "");
}

}  // namespace
}  // namespace kiln
