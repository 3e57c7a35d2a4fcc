#include "kiln/ir/transform/graph/topological_sort.h"

#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

TEST(TopologicalSortTest, DepthFirstFollowsOneInput) {
  EXPECT_EQ(DifferenceAfter({"topological_sort"}, R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    with R.dataflow():
        b = R.exp(y)
        a = R.exp(x)
        a1 = R.log(a)
        g = R.add(a1, b)
        R.output(g)
    return g
)",
                            R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        a1 = R.log(a)
        b = R.exp(y)
        g = R.add(a1, b)
        R.output(g)
    return g
)"),
            "");
}

TEST(TopologicalSortTest, WhatHasADimensionStandsBehindTheCastThatNamesIt) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((4,), "float32"), z: R.Tensor((2,), "float32")):
    k = T.int64()
    with R.dataflow():
        a = R.match_cast(x, R.Tensor((k,), "float32"))
        b = R.ones(R.shape([k]), "float32")
        R.output(a, b)
    return b
)";
  EXPECT_EQ(DifferenceAfter({"topological_sort_breadth_first"}, text, text),
            "");
}

}  // namespace
}  // namespace kiln
