// Slices, beside a loop that picks the same elements.
#include <algorithm>
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

// x[begin:end:step] as Python has it.
std::vector<double> Sliced(const std::vector<double>& x, int64_t begin,
                           int64_t end, int64_t step) {
  const auto n = static_cast<int64_t>(x.size());
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  const auto place = [&](int64_t at) {
    return std::min(std::max(at < 0 ? at + n : at, low), high);
  };
  std::vector<double> slice;
  for (int64_t i = place(begin); step < 0 ? i > place(end) : i < place(end);
       i += step) {
    slice.push_back(x[i]);
  }
  return slice;
}

const char kTuple[] = "strided_slice(x, (0,), ";

TEST(SliceTest, PlacesAsInPythonForKnownAndSymbolicExtents) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const std::map<std::string, Tensor> x = {{"x", Numbers({5}, values)}};
  for (const int64_t begin : {-9, -2, 0, 1, 4, 9}) {
    for (const int64_t end : {-9, -1, 0, 3, 9}) {
      for (const int64_t step : {1, 2, -1, -3}) {
        const auto text = [](int64_t a) { return std::to_string(a); };
        const std::string call = std::string(kTuple) + "(" + text(begin) +
                                 ",), (" + text(end) + ",), (" + text(step) +
                                 ",))";
        const auto expected =
            ElementsAreArray(Sliced(values, begin, end, step));
        EXPECT_THAT(ValuesOfOp("x: R.Tensor((5,), \"float32\")", call, x),
                    IsOkAndHolds(expected))
            << call;
        EXPECT_THAT(ValuesOfOp("x: R.Tensor((\"n\",), \"float32\")", call, x),
                    IsOkAndHolds(expected))
            << call;
        EXPECT_THAT(ValuesOfOp("x: R.Tensor((\"n\",), \"float32\"), b: "
                               "T.int64, e: T.int64",
                               std::string(kTuple) + "(b,), (e,), (" +
                                   text(step) + ",))",
                               x, {{"b", begin}, {"e", end}}),
                    IsOkAndHolds(expected))
            << call;
      }
    }
  }
}

TEST(SliceTest, OtherAxesAndRefusals) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({2, 3}, {1, 2, 3, 4, 5, 6}, DType::Int(32))}};
  const std::string param = "x: R.Tensor((2, 3), \"int32\")";
  EXPECT_THAT(ValuesOfOp(param, "strided_slice(x, (-1,), (1,), (3,))", x),
              IsOkAndHolds(ElementsAre(2, 3, 5, 6)));
  EXPECT_THAT(ValuesOfOp(param + ", i: T.int64",
                         "strided_slice(x, (0,), (i,), (i + 1,), "
                         "assume_inbound=True)",
                         x, {{"i", 1}}),
              IsOkAndHolds(ElementsAre(4, 5, 6)));
  EXPECT_THAT(LegalizedCall(param, "strided_slice(x, (0,), (0,), (2,), (0,))")
                  .status()
                  .message(),
              HasSubstr("step of 0"));
  EXPECT_FALSE(
      LegalizedCall(param, "strided_slice(x, (0, 1), (0,), (2,))").ok());
  EXPECT_FALSE(LegalizedCall(param, "strided_slice(x, (2,), (0,), (2,))").ok());
}

TEST(SliceTest, PlacesMayBeTensors) {
  const auto places = [](double i, double j) {
    return Numbers({2}, {i, j}, DType::Int(64));
  };
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({2, 3}, {1, 2, 3, 4, 5, 6})},
      {"b", places(1, -1)},
      {"e", places(9, -9)},
      {"s", places(1, -2)}};
  EXPECT_THAT(
      ValuesOfOp("x: R.Tensor((2, \"n\"), \"float32\"), b: R.Tensor((2,), "
                 "\"int64\"), e: R.Tensor((2,), \"int64\"), s: "
                 "R.Tensor((2,), \"int64\")",
                 "dynamic_strided_slice(x, b, e, s)", tensors),
      IsOkAndHolds(ElementsAre(6, 4)));
}

TEST(SliceTest, SourcesAreWrittenIntoTheSlice) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({5}, {1, 2, 3, 4, 5})}, {"y", Numbers({2}, {8, 9})}};
  const std::string params =
      "x: R.Tensor((5,), \"float32\"), y: R.Tensor((2,), \"float32\")";
  EXPECT_THAT(
      ValuesOfOp(params, "slice_scatter(x, y, 1, 5, 2, axis=0)", tensors),
      IsOkAndHolds(ElementsAre(1, 8, 3, 9, 5)));
  EXPECT_THAT(
      ValuesOfOp(params, "slice_scatter(x, y, 3, 9, 1, axis=0)", tensors),
      IsOkAndHolds(ElementsAre(1, 2, 3, 8, 9)));
  EXPECT_FALSE(
      LegalizedCall(params, "slice_scatter(x, y, 0, 5, 1, axis=0)").ok());
  EXPECT_FALSE(
      LegalizedCall(params, "slice_scatter(x, y, 0, 5, 0, axis=0)").ok());
}

}  // namespace
}  // namespace kiln
