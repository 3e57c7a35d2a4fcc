// Elements read from and written to places that tensors hold. Most cases are
// over the matrix x:
//
//   1 2 3
//   4 5 6
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/testing/run_op.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const char kMatrix[] = "x: R.Tensor((\"n\", 3), \"float32\")";

std::map<std::string, Tensor> MatrixAnd(std::map<std::string, Tensor> others) {
  others["x"] = Numbers({2, 3}, {1, 2, 3, 4, 5, 6});
  return others;
}

TEST(IndexingTest, TakesAlongAnAxis) {
  const auto tensors =
      MatrixAnd({{"i", Numbers({2, 1}, {2, 0}, DType::Int(32))}});
  const std::string params =
      std::string(kMatrix) + ", i: R.Tensor((\"k\", 1), \"int32\")";
  EXPECT_THAT(ValuesOfOp(params, "take(x, i, axis=1)", tensors),
              IsOkAndHolds(ElementsAre(3, 1, 6, 4)));
  EXPECT_THAT(ValuesOfOp(std::string(kMatrix) + ", k: T.int64",
                         "take(x, k, axis=0)", tensors, {{"k", 1}}),
              IsOkAndHolds(ElementsAre(4, 5, 6)));
  EXPECT_FALSE(LegalizedCall(params, "take(x, i)").ok());
  EXPECT_FALSE(LegalizedCall(params, "take(x, i, axis=0, mode=\"none\")").ok());
}

TEST(IndexingTest, PlacesOutsideAreClippedWrappedOrNan) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({3}, {1, 2, 3})},
      {"i", Numbers({3}, {-1, 1, 4}, DType::Int(64))}};
  const std::string params =
      "x: R.Tensor((3,), \"float32\"), i: R.Tensor((3,), \"int64\")";
  EXPECT_THAT(ValuesOfOp(params, "take(x, i, mode=\"clip\")", tensors),
              IsOkAndHolds(ElementsAre(1, 2, 3)));
  EXPECT_THAT(ValuesOfOp(params, "take(x, i, mode=\"wrap\")", tensors),
              IsOkAndHolds(ElementsAre(3, 2, 2)));
  EXPECT_THAT(
      ValuesOfOp(params, "take(x, i, mode=\"nan\")", tensors),
      IsOkAndHolds(ElementsAre(::testing::IsNan(), 2, ::testing::IsNan())));
}

TEST(IndexingTest, GathersElementsAndSlices) {
  const auto tensors =
      MatrixAnd({{"i", Numbers({1, 3}, {1, 0, -1}, DType::Int(64))},
                 {"j", Numbers({2, 2}, {1, 2, 0, 0}, DType::Int(64))},
                 {"k", Numbers({2, 1}, {2, 1}, DType::Int(64))}});
  EXPECT_THAT(
      ValuesOfOp(std::string(kMatrix) + ", i: R.Tensor((1, 3), \"int64\")",
                 "gather_elements(x, i, axis=0)", tensors),
      IsOkAndHolds(ElementsAre(4, 2, 6)));
  EXPECT_THAT(
      ValuesOfOp(std::string(kMatrix) + ", j: R.Tensor((\"m\", 2), \"int64\")",
                 "gather_nd(x, j)", tensors),
      IsOkAndHolds(ElementsAre(6, 1)));
  EXPECT_THAT(
      ValuesOfOp(std::string(kMatrix) + ", k: R.Tensor((\"n\", 1), \"int64\")",
                 "gather_nd(x, k, batch_dims=1)", tensors),
      IsOkAndHolds(ElementsAre(3, 5)));
  EXPECT_FALSE(
      LegalizedCall(std::string(kMatrix) + ", k: R.Tensor((2, 9), \"int64\")",
                    "gather_nd(x, k)")
          .ok());
  EXPECT_FALSE(
      LegalizedCall(std::string(kMatrix) + ", k: R.Tensor((2, 1), \"int64\")",
                    "gather_nd(x, k, batch_dims=-1)")
          .ok());
}

TEST(IndexingTest, IndicesMeetAndCountFromTheEnd) {
  const auto tensors =
      MatrixAnd({{"i", Numbers({2, 1}, {1, 0}, DType::Int(64))},
                 {"j", Numbers({2}, {-1, 0}, DType::Int(64))}});
  const std::string params = std::string(kMatrix) +
                             ", i: R.Tensor((2, 1), \"int64\"), j: "
                             "R.Tensor((2,), \"int64\")";
  EXPECT_THAT(ValuesOfOp(params, "index_tensor(x, (i, j))", tensors),
              IsOkAndHolds(ElementsAre(6, 4, 3, 1)));
  EXPECT_THAT(ValuesOfOp(params, "index_tensor(x, (j,))", tensors),
              IsOkAndHolds(ElementsAre(4, 5, 6, 1, 2, 3)));
  EXPECT_FALSE(LegalizedCall(params, "index_tensor(x, (i, i, i))").ok());
}

TEST(IndexingTest, ScatteredElementsAreReplacedOrCombined) {
  const auto tensors =
      MatrixAnd({{"i", Numbers({2, 2}, {1, 0, 1, -1}, DType::Int(64))},
                 {"u", Numbers({2, 2}, {10, 20, 30, 40})}});
  const std::string params = std::string(kMatrix) +
                             ", i: R.Tensor((2, 2), \"int64\"), u: "
                             "R.Tensor((2, 2), \"float32\")";
  const struct {
    const char* reduction;
    std::vector<double> expected;
  } kCases[] = {{"update", {1, 20, 3, 30, 40, 6}},
                {"add", {1, 22, 3, 44, 45, 6}},
                {"mul", {1, 40, 3, 1200, 200, 6}},
                {"min", {1, 2, 3, 4, 5, 6}},
                {"max", {1, 20, 3, 30, 40, 6}}};
  for (const auto& c : kCases) {
    EXPECT_THAT(ValuesOfOp(params,
                           std::string("scatter_elements(x, i, u, axis=0, "
                                       "reduction=\"") +
                               c.reduction + "\")",
                           tensors),
                IsOkAndHolds(ElementsAreArray(c.expected)))
        << c.reduction;
  }
}

TEST(IndexingTest, ScatteredSlices) {
  const auto tensors =
      MatrixAnd({{"i", Numbers({2, 1}, {1, 1}, DType::Int(64))},
                 {"u", Numbers({2, 3}, {10, 20, 30, 1, 1, 1})},
                 {"j", Numbers({2}, {0, 1}, DType::Int(64))},
                 {"k", Numbers({2}, {2, 0}, DType::Int(64))},
                 {"v", Numbers({2}, {7, 8})}});
  const std::string params =
      std::string(kMatrix) +
      ", i: R.Tensor((2, 1), \"int64\"), u: R.Tensor((2, 3), \"float32\")";
  EXPECT_THAT(
      ValuesOfOp(params, "scatter_nd(x, i, u, reduction=\"add\")", tensors),
      IsOkAndHolds(ElementsAre(1, 2, 3, 15, 26, 37)));
  EXPECT_THAT(ValuesOfOp(params, "scatter_nd(x, i, u)", tensors),
              IsOkAndHolds(ElementsAre(1, 2, 3, 1, 1, 1)));
  const std::string puts = std::string(kMatrix) +
                           ", j: R.Tensor((2,), \"int64\"), k: R.Tensor((2,), "
                           "\"int64\"), v: R.Tensor((2,), \"float32\")";
  EXPECT_THAT(ValuesOfOp(puts, "index_put(x, (j, k), v)", tensors),
              IsOkAndHolds(ElementsAre(1, 2, 7, 8, 5, 6)));
  EXPECT_THAT(
      ValuesOfOp(puts, "index_put(x, (j, k), v, accumulate=True)", tensors),
      IsOkAndHolds(ElementsAre(1, 2, 10, 12, 5, 6)));
  EXPECT_FALSE(LegalizedCall(std::string(kMatrix) +
                                 ", i: R.Tensor((2, 3), \"int64\"), u: "
                                 "R.Tensor((2,), \"float32\")",
                             "scatter_nd(x, i, u)")
                   .ok());
}

}  // namespace
}  // namespace kiln
