// Extents of the tensor that a function gives, and how many bytes it takes.
#include "kiln/ir/transform/graph/memory_size.h"

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

// The largest size of a tensor float32[shape] where x is of (n, m, k).
std::string Bytes(const std::string& attrs, const std::string& shape) {
  const Module module =
      ReadModule(absl::StrReplaceAll(R"(
@R.function
def main(x: R.Tensor(("n", "m", "k"), "float32"), s: R.Shape(["p"])) -> R.Tensor((SHAPE,), "float32"):
    R.func_attr({ATTRS})
    return x
)",
                                     {{"SHAPE", shape}, {"ATTRS", attrs}}));
  const graph::FunctionNode& f = *module.graph_functions[0];
  const absl::StatusOr<DimBounds> bounds = DimBounds::Create(f);
  if (!bounds.ok()) return std::string(bounds.status().message());
  const auto* tensor = f.result.As<graph::TensorInfo>();
  Analyzer analyzer;
  return PrintExpr(
      LargestBytes(*tensor->extents(), tensor->dtype, *bounds, analyzer));
}

constexpr char kBoth[] = R"("tir_var_upper_bound": {"n": 20, "m": 5})";

TEST(MemorySizeTest, BoundsGoThroughArithmetic) {
  EXPECT_EQ(Bytes(kBoth, R"dims("n", "m", "T.max(n - m, 1)")dims"), "8000");
  EXPECT_EQ(Bytes(kBoth, R"("2 * n + 2")"), "168");
  EXPECT_EQ(Bytes(kBoth, R"("(n + 7) // 8 * 8")"), "96");
  EXPECT_EQ(Bytes(kBoth, R"("n % 8", "m")"), "140");
  EXPECT_EQ(Bytes(kBoth, R"dims("T.min(n, m)")dims"), "20");
}

TEST(MemorySizeTest, WhatHasNoBoundStaysSymbolic) {
  EXPECT_EQ(Bytes(kBoth, R"("n * k")"), "k * 80");
  EXPECT_EQ(Bytes("", R"("n", 2)"), "n * 8");
  EXPECT_EQ(Bytes(R"("tir_var_lower_bound": {"n": 2})", R"("n")"), "n * 4");
  // A value of a shape may be negative, unless the function says otherwise.
  EXPECT_EQ(Bytes(kBoth, R"("n * p")"), "n * p * 4");
  EXPECT_EQ(
      Bytes(
          R"("tir_var_upper_bound": {"n": 20}, "tir_non_negative_var": ["p"])",
          R"("n * p")"),
      "p * 80");
}

TEST(MemorySizeTest, AttributesThatSayNothingAreRefused) {
  EXPECT_EQ(Bytes(R"("tir_var_upper_bound": 3)", R"("n")"),
            "tir_var_upper_bound has to give an integer for each name of a "
            "dimension");
  EXPECT_EQ(Bytes(R"("tir_non_negative_var": [3])", R"("n")"),
            "tir_non_negative_var has to be a list of names of dimensions");
}

}  // namespace
}  // namespace kiln
