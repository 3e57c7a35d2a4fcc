#include "kiln/ir/transform/graph/topological_sort.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
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

// One graph in each order.
TEST(TopologicalSortTest, EachOrderBeginsWhereItSays) {
  const std::string head = R"(
@R.function
def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
    with R.dataflow():
)";
  const std::string tail = R"(
        R.output(d, e)
    return (d, e)
)";
  const std::map<char, std::string> lines = {
      {'k', "        k = R.zeros(R.shape([2]), \"float32\")\n"},
      {'a', "        a = R.exp(x)\n"},
      {'b', "        b = R.exp(y)\n"},
      {'c', "        c = R.add(b, a)\n"},
      {'d', "        d = R.add(c, k)\n"},
      {'e', "        e = R.log(x)\n"}};
  const auto module = [&](const std::string& order) {
    std::string text = head;
    for (const char name : order) text += lines.at(name);
    return text + tail;
  };
  const std::map<std::string, std::string> wanted = {
      {"topological_sort", "aebckd"},
      {"topological_sort_breadth_first", "kaebcd"},
      {"topological_sort_from_outputs", "ebackd"},
      {"topological_sort_breadth_first_from_outputs", "abkcde"}};
  for (const auto& [pass, order] : wanted) {
    for (const char* given : {"kabcde", "abckde", "bkacde"}) {
      EXPECT_EQ(DifferenceAfter({pass}, module(given), module(order)), "")
          << pass << " of " << given;
    }
  }
}

// Diamonds on diamonds: the work does not double with each.
TEST(TopologicalSortTest, DeepGraphsAreSortedInTime) {
  std::string text =
      "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n"
      "    with R.dataflow():\n        a0 = R.exp(x)\n";
  for (int i = 0; i < 300; ++i) {
    text += absl::StrCat("        a", i + 1, " = R.add(a", i, ", a", i, ")\n");
  }
  text += "        R.output(a300)\n    return a300\n";
  for (const char* pass : {"topological_sort_from_outputs",
                           "topological_sort_breadth_first_from_outputs"}) {
    EXPECT_EQ(DifferenceAfter({pass}, text, text), "") << pass;
  }
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
