#include "kiln/schedule/analysis/sum_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A sum over k and l of a program with these loops and bindings.
Function Sum(const std::string& loops, const std::string& extents,
             const std::string& k, const std::string& l,
             const std::string& type = "float32") {
  return ParseProgram(absl::StrCat(
      "@T.prim_func\ndef main(A: T.Buffer((8, 12, 6), \"", type,
      "\"), C: T.Buffer((8,), \"", type, "\")):\n  for ", loops, " in T.grid(",
      extents,
      "):\n    with T.block(\"C\"):\n      vi = T.axis.spatial(8, i)\n"
      "      vk = T.axis.reduce(12, ",
      k, ")\n      vl = T.axis.reduce(6, ", l,
      ")\n      with T.init():\n        C[vi] = T.", type,
      "(0)\n      C[vi] = C[vi] + A[vi, vk, vl]\n"));
}

Function Plain() { return Sum("i, k, l", "8, 12, 6", "k", "l"); }

TEST(SumOrderTest, SplitsFusionsAndSpatialLoopsKeepIt) {
  for (const Function& same :
       {Sum("k, i, l", "12, 8, 6", "k", "l"),
        Sum("i, k, k1, l", "8, 3, 4, 6", "k * 4 + k1", "l"),
        Sum("i, k, k1, l", "8, 3, 5, 6", "k * 5 + k1", "l"),
        Sum("i, f", "8, 72", "f // 6", "f % 6"),
        Sum("k, l, i, l1", "12, 2, 8, 3", "k", "l * 3 + l1"),
        Sum("f, i", "72, 8", "f // 6", "f % 6"),
        Sum("i, f, g", "8, 24, 3", "f // 2", "f % 2 * 3 + g")}) {
    KILN_EXPECT_OK(CheckSumOrder(Plain(), same, "test"));
  }
}

TEST(SumOrderTest, OtherOrdersAreRefused) {
  for (const Function& other :
       {Sum("i, l, k", "8, 6, 12", "k", "l"),
        Sum("i, k1, k, l", "8, 4, 3, 6", "k * 4 + k1", "l"),
        Sum("i, k, l, k1", "8, 3, 6, 4", "k * 4 + k1", "l"),
        Sum("i, f", "8, 72", "f % 12", "f // 12"),
        Sum("i, k, l", "8, 12, 6", "11 - k", "l"),
        Sum("i, k, l", "8, 12, 6", "(k + i) % 12", "l")}) {
    EXPECT_THAT(CheckSumOrder(Plain(), other, "test"),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("block `C` might add up its terms in "
                                   "another order")));
  }
}

TEST(SumOrderTest, IntegersMayTakeAny) {
  KILN_EXPECT_OK(CheckSumOrder(Sum("i, k, l", "8, 12, 6", "k", "l", "int32"),
                               Sum("i, l, k", "8, 6, 12", "k", "l", "int32"),
                               "test"));
}

}  // namespace
}  // namespace kiln
