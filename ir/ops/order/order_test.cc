// Sorting beside std::stable_sort, and what becomes of ops without loops;
// medians and samples beside values that were worked out by hand:
//
//   R.median(x, axis=[0, -1])   of x[n, 2, m]: two values, each of n * m
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/testing/run_op.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

// The places of x in order, equal elements in theirs.
std::vector<double> SortedPlaces(const std::vector<double>& x,
                                 bool is_descending) {
  std::vector<double> places;
  for (size_t i = 0; i < x.size(); ++i) places.push_back(i);
  std::stable_sort(places.begin(), places.end(), [&](double a, double b) {
    const double u = x[static_cast<size_t>(a)], v = x[static_cast<size_t>(b)];
    return is_descending ? v < u : u < v;
  });
  return places;
}

TEST(OrderTest, SortsEveryLengthStably) {
  for (int n = 1; n <= 19; ++n) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back((i * 7 + 3) % 5);
    const std::map<std::string, Tensor> x = {
        {"x", Numbers({n}, values, DType::Int(32))}};
    for (const bool is_descending : {false, true}) {
      const std::vector<double> places = SortedPlaces(values, is_descending);
      const std::string flag =
          is_descending ? ", descending=True)" : ", descending=False)";
      for (const std::string& extent :
           {std::to_string(n), std::string("\"n\"")}) {
        const std::string param = "x: R.Tensor((" + extent + ",), \"int32\")";
        EXPECT_THAT(ValuesOfOp(param, "argsort(x" + flag, x),
                    IsOkAndHolds(ElementsAreArray(places)))
            << n << param;
      }
    }
  }
}

// 3 x 14 rows of 9: two groups of rows side by side, and most of a third.
TEST(OrderTest, ManyRowsAreSortedEachByItself) {
  constexpr int kOuter = 3, kLength = 9, kInner = 14;
  const auto at = [](int a, int k, int b) {
    return static_cast<size_t>((a * kLength + k) * kInner + b);
  };
  std::vector<double> values(kOuter * kLength * kInner), places(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i * i * 31 % 47 % 7);
  }
  for (int a = 0; a < kOuter; ++a) {
    for (int b = 0; b < kInner; ++b) {
      std::vector<double> row;
      for (int k = 0; k < kLength; ++k) row.push_back(values[at(a, k, b)]);
      const std::vector<double> sorted = SortedPlaces(row, false);
      for (int k = 0; k < kLength; ++k) {
        places[at(a, k, b)] = sorted[static_cast<size_t>(k)];
      }
    }
  }
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({kOuter, kLength, kInner}, values)}};
  for (const std::string shape : {"(3, 9, 14)", "(\"n\", 9, \"m\")"}) {
    EXPECT_THAT(ValuesOfOp("x: R.Tensor(" + shape + ", \"float32\")",
                           "argsort(x, axis=1)", x),
                IsOkAndHolds(ElementsAreArray(places)))
        << shape;
  }
}

TEST(OrderTest, AxesTypesAndNans) {
  const double nan = std::nan("");
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({3, 2}, {3, nan, 1, 5, 2, -4})}};
  const std::string param = "x: R.Tensor((3, 2), \"float32\")";
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<double> sorted,
                            ValuesOfOp(param, "sort(x, axis=0)", x));
  EXPECT_THAT(sorted, ElementsAre(1, -4, 2, 5, 3, ::testing::IsNan()));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> places,
      RunOp(param, "argsort(x, axis=0, dtype=\"int64\")", x));
  EXPECT_EQ(places[0].dtype, DType::Int(64));
  EXPECT_THAT(ValuesOf(places[0]), ElementsAre(1, 2, 2, 1, 0, 0));
}

TEST(OrderTest, TheLargestAndTheSmallestFew) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 4}, {3, 1, 4, 1, 5, 9, 2, 6}, DType::Float(16))}};
  const std::string param = "x: R.Tensor((\"n\", 4), \"float16\")";
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> both,
                            RunOp(param, "topk(x, k=2)", x));
  ASSERT_EQ(both.size(), 2u);
  EXPECT_THAT(ValuesOf(both[0]), ElementsAre(4, 3, 9, 6));
  EXPECT_THAT(ValuesOf(both[1]), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(
      ValuesOfOp(param, "topk(x, k=3, largest=False, ret_type=\"values\")", x),
      IsOkAndHolds(ElementsAre(1, 1, 3, 2, 5, 6)));
  EXPECT_THAT(
      ValuesOfOp(param, "topk(x, k=1, axis=0, ret_type=\"indices\")", x),
      IsOkAndHolds(ElementsAre(1, 1, 0, 1)));
  EXPECT_FALSE(LegalizedCall(param, "topk(x, k=5)").ok());
  EXPECT_FALSE(LegalizedCall(param, "topk(x, k=1, ret_type=\"all\")").ok());
}

// The first k of SortedPlaces in each of `rows` rows, of which each other value
// of a small range is there several times.
void ExpectTop(int64_t rows, int64_t n, int64_t k, bool is_open) {
  std::vector<double> values, largest, smallest;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> of_row;
    for (int64_t i = 0; i < n; ++i)
      of_row.push_back(static_cast<double>((i * 37 + row * 11) % 53 - 20));
    values.insert(values.end(), of_row.begin(), of_row.end());
    for (const bool is_descending : {false, true}) {
      const auto places = SortedPlaces(of_row, is_descending);
      auto& all = is_descending ? largest : smallest;
      all.insert(all.end(), places.begin(), places.begin() + k);
    }
  }
  const std::string shape =
      is_open ? "(\"m\", \"n\")" : absl::StrCat("(", rows, ", ", n, ")");
  const std::string call = absl::StrCat("topk(x, k=", k);
  for (const DType dtype : {DType::Int(8), DType::Float(32)}) {
    const std::string param =
        absl::StrCat("x: R.Tensor(", shape, ", \"", dtype.ToString(), "\")");
    const std::map<std::string, Tensor> x = {
        {"x", Numbers({rows, n}, values, dtype)}};
    EXPECT_THAT(ValuesOfOp(param, call + ", ret_type=\"indices\")", x),
                IsOkAndHolds(ElementsAreArray(largest)))
        << param << call;
    EXPECT_THAT(
        ValuesOfOp(param, call + ", ret_type=\"indices\", largest=False)", x),
        IsOkAndHolds(ElementsAreArray(smallest)))
        << param << call;
  }
}

TEST(OrderTest, AFewOfMany) {
  for (const int64_t k : {1, 2, 3, 5, 8}) {
    for (const int64_t n : {40, 61, 64, 133, 300}) {
      ExpectTop(1, n, k, false);  // in parts, or one lane
      ExpectTop(3, n, k, false);
      ExpectTop(19, n, k, false);  // more than a group
    }
    ExpectTop(2, 50, k, true);
    ExpectTop(18, 9, k, true);
  }
}

// Nothing outside of the tensor is read.
TEST(OrderTest, MoreThanThereAreOfAnOpenExtent) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 2}, {3, 1, 4, 5})}};
  const std::string param = "x: R.Tensor((2, \"n\"), \"float32\")";
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> both,
                            RunOp(param, "topk(x, k=3)", x));
  const double least = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(ValuesOf(both[0]), ElementsAre(3, 1, least, 5, 4, least));
  EXPECT_THAT(ValuesOf(both[1]), ElementsAre(0, 1, 2, 1, 0, 2));
}

TEST(OrderTest, AFewOfManyNansAndInfinities) {
  const double nan = std::nan(""),
               inf = std::numeric_limits<double>::infinity();
  const std::string param = "x: R.Tensor((1, 13), \"float32\")";
  const auto places = [&](const std::vector<double>& values,
                          const std::string& flags) {
    return ValuesOfOp(param, "topk(x, k=3, ret_type=\"indices\"" + flags + ")",
                      {{"x", Numbers({1, 13}, values)}});
  };
  std::vector<double> x(13, -inf);
  EXPECT_THAT(places(x, ""), IsOkAndHolds(ElementsAre(0, 1, 2)));
  x[12] = nan, x[5] = inf;
  EXPECT_THAT(places(x, ""), IsOkAndHolds(ElementsAre(12, 5, 0)));
  x = std::vector<double>(13, nan);
  EXPECT_THAT(places(x, ", largest=False"), IsOkAndHolds(ElementsAre(0, 1, 2)));
  x[11] = inf, x[12] = 3;
  EXPECT_THAT(places(x, ", largest=False"),
              IsOkAndHolds(ElementsAre(12, 11, 0)));
}

TEST(OrderTest, MediansAndTheirPlaces) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 3}, {3, 1, 2, 9, 7, 8})}};
  const std::string param = "x: R.Tensor((2, \"n\"), \"float32\")";
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Tensor> rows,
                            RunOp(param, "median(x, axis=[1])", x));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(ValuesOf(rows[0]), ElementsAre(2, 8));
  EXPECT_THAT(ValuesOf(rows[1]), ElementsAre(2, 2));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> columns,
      RunOp(param, "median(x, axis=[0], keepdims=True)", x));
  EXPECT_THAT(columns[0].shape, ElementsAre(1, 3));
  EXPECT_THAT(ValuesOf(columns[0]), ElementsAre(3, 1, 2));
  EXPECT_THAT(ValuesOfOp(param, "median(x)", x), IsOkAndHolds(ElementsAre(3)));
}

TEST(OrderTest, MediansOverSeveralAxesSayNoPlaces) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 2, 3}, {5, 1, 9, 2, 8, 7, 0, 6, 3, 4, 11, 10})}};
  const std::string param = "x: R.Tensor((\"n\", 2, \"m\"), \"float32\")";
  // Of 5, 1, 9, 0, 6, 3 and of 2, 8, 7, 4, 11, 10.
  EXPECT_THAT(ValuesOfOp(param, "median(x, axis=[0, -1])", x),
              IsOkAndHolds(ElementsAre(3, 7)));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> kept,
      RunOp(param, "median(x, axis=[2, 1], keepdims=True)", x));
  EXPECT_THAT(kept[0].shape, ElementsAre(2, 1, 1));
  EXPECT_THAT(ValuesOf(kept[0]), ElementsAre(5, 4));
}

TEST(OrderTest, BucketsWithOpenAndClosedEnds) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({4}, {0, 1, 2.5, 9})}, {"b", Numbers({3}, {1, 2, 3})}};
  const std::string params =
      "x: R.Tensor((\"n\",), \"float32\"), b: R.Tensor((\"m\",), \"float32\")";
  EXPECT_THAT(ValuesOfOp(params, "bucketize(x, b)", tensors),
              IsOkAndHolds(ElementsAre(0, 0, 2, 3)));
  EXPECT_THAT(ValuesOfOp(params, "bucketize(x, b, out_int32=True, right=True)",
                         tensors),
              IsOkAndHolds(ElementsAre(0, 1, 2, 3)));
}

TEST(OrderTest, SamplesFollowTheSumsOfProbabilities) {
  const std::map<std::string, Tensor> tensors = {
      {"p", Numbers({2, 3}, {0.25, 0.5, 0.25, 1, 0, 0})},
      {"u", Numbers({4, 1}, {0.1, 0.25, 1, 0.5})},
      {"s", Numbers({4, 1}, {0, 0, 0, 1}, DType::Int(64))}};
  for (const std::string type : {"int32", "float32"}) {
    EXPECT_THAT(
        ValuesOfOp("p: R.Tensor((\"b\", 3), \"float32\"), u: "
                   "R.Tensor((\"n\", 1), \"float32\"), s: "
                   "R.Tensor((\"n\", 1), \"int64\")",
                   "multinomial_from_uniform(p, u, s, \"" + type + "\")",
                   tensors),
        IsOkAndHolds(ElementsAre(0, 1, 2, 0)));
  }
}

TEST(OrderTest, WhatIsAsLongAsItsDataCallsAPackedFunction) {
  for (const char* call : {"unique(x, R.prim_value(True), R.prim_value(False), "
                           "R.prim_value(False), R.prim_value(True))",
                           "nonzero(x)"}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module m, LegalizedCall("x: R.Tensor((4,), \"int32\")", call));
    EXPECT_TRUE(m.functions.empty());
    const std::string name(call, std::string(call).find('('));
    EXPECT_THAT(PrintModule(m),
                HasSubstr("R.call_pure_packed(\"kiln.builtin." + name + "\""));
  }
}

}  // namespace
}  // namespace kiln
