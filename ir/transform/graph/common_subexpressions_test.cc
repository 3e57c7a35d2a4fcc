#include "kiln/ir/transform/graph/common_subexpressions.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(CommonSubexpressionsTest, EqualValuesAreOne) {
  EXPECT_EQ(DifferenceAfter({"cse"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = R.exp(x)
    c = R.add(a, b)
    return c
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = a
    c = R.add(a, a)
    return c
)"),
            "");
}

TEST(CommonSubexpressionsTest, WhatABlockKeepsIsNotUsedBehindIt) {
  EXPECT_EQ(DifferenceAfter({"cse"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        g = R.add(a, x)
        R.output(g)
    b = R.exp(x)
    c = R.add(g, b)
    return c
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        g = R.add(a, x)
        R.output(g)
    b = R.exp(x)
    c = R.add(g, b)
    return c
)"),
            "");
}

TEST(CommonSubexpressionsTest, AnOutputKeepsItsNameBehindTheBlock) {
  EXPECT_EQ(DifferenceAfter({"cse"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.exp(x)
        R.output(b)
    c = R.add(b, x)
    return c
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = a
        R.output(b)
    c = R.add(b, x)
    return c
)"),
            "");
}

}  // namespace
}  // namespace kiln
