// Tensors put together and taken apart.
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

TEST(JoinTest, TensorsStandBehindEachOther) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({2, 1}, {1, 2})}, {"y", Numbers({2, 2}, {3, 4, 5, 6})}};
  const std::string params =
      "x: R.Tensor((2, \"n\"), \"float32\"), y: R.Tensor((2, \"m\"), "
      "\"float32\")";
  EXPECT_THAT(ValuesOfOp(params, "concat((x, y), axis=1)", tensors),
              IsOkAndHolds(ElementsAre(1, 3, 4, 2, 5, 6)));
  EXPECT_THAT(ValuesOfOp(params, "concat((x, y, x), axis=-1)", tensors),
              IsOkAndHolds(ElementsAre(1, 3, 4, 1, 2, 5, 6, 2)));
  EXPECT_FALSE(LegalizedCall("x: R.Tensor((2,), \"float32\"), y: "
                             "R.Tensor((2,), \"int32\")",
                             "concat((x, y), axis=0)")
                   .ok());
  EXPECT_FALSE(LegalizedCall("", "concat((), axis=0)").ok());
}

TEST(JoinTest, ATupleThatIsAVariableIsTakenApart) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module m, LegalizedCall("t: R.Tuple(R.Tensor((\"n\",), \"int8\"), "
                                    "R.Tensor((3,), \"int8\"))",
                                    "concat(t, axis=0)"));
  EXPECT_EQ(m.functions.size(), 1u);
}

TEST(JoinTest, StacksHaveAnAxisMore) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({2}, {1, 2}, DType::Int(8))},
      {"y", Numbers({2}, {3, 4}, DType::Int(8))}};
  const std::string params =
      "x: R.Tensor((2,), \"int8\"), y: R.Tensor((2,), \"int8\")";
  EXPECT_THAT(ValuesOfOp(params, "stack((x, y), axis=0)", tensors),
              IsOkAndHolds(ElementsAre(1, 2, 3, 4)));
  EXPECT_THAT(ValuesOfOp(params, "stack((x, y), axis=-1)", tensors),
              IsOkAndHolds(ElementsAre(1, 3, 2, 4)));
}

TEST(JoinTest, PartsOfOneSizeAndAtPlaces) {
  const std::map<std::string, Tensor> x = {
      {"x", Numbers({5}, {1, 2, 3, 4, 5})}};
  for (const char* param : {"x: R.Tensor((5,), \"float32\")",
                            "x: R.Tensor((\"n\",), \"float32\")"}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> halves,
        RunOp(param, "split(x, indices_or_sections=2)", x));
    ASSERT_EQ(halves.size(), 2u);
    EXPECT_THAT(ValuesOf(halves[0]), ElementsAre(1, 2, 3));
    EXPECT_THAT(ValuesOf(halves[1]), ElementsAre(4, 5));
    KILN_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> parts,
        RunOp(param, "split(x, indices_or_sections=[1, 4])", x));
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_THAT(ValuesOf(parts[1]), ElementsAre(2, 3, 4));
    EXPECT_THAT(ValuesOf(parts[2]), ElementsAre(5));
  }
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<Tensor> many,
      RunOp("x: R.Tensor((5,), \"float32\")",
            "split(x, indices_or_sections=[3, 2, 9])", x));
  ASSERT_EQ(many.size(), 4u);
  EXPECT_EQ(many[1].size(), 0);
  EXPECT_THAT(ValuesOf(many[2]), ElementsAre(3, 4, 5));
  EXPECT_EQ(many[3].size(), 0);
}

TEST(JoinTest, GridsAreOfVectors) {
  for (const char* axis :
       {"R.Tensor(dtype=\"float32\")", "R.Tensor((2, 2), \"float32\")"}) {
    EXPECT_FALSE(
        LegalizedCall(std::string("x: R.Tensor((2,), \"float32\"), y: ") + axis,
                      "meshgrid((x, y))")
            .ok())
        << axis;
  }
}

TEST(JoinTest, SplitsIntoNothingAreRefused) {
  const std::string param = "x: R.Tensor((5,), \"float32\")";
  for (const char* sections : {"0", "-1", "1000000000000"}) {
    EXPECT_FALSE(LegalizedCall(param, std::string("split(x, "
                                                  "indices_or_sections=") +
                                          sections + ")")
                     .ok());
  }
}

TEST(JoinTest, GridsCountAlongEachArgument) {
  const std::map<std::string, Tensor> tensors = {
      {"x", Numbers({2}, {1, 2})}, {"y", Numbers({3}, {3, 4, 5})}};
  const std::string params =
      "x: R.Tensor((2,), \"float32\"), y: R.Tensor((3,), \"float32\")";
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<Tensor> grid,
                            RunOp(params, "meshgrid((x, y))", tensors));
  EXPECT_THAT(ValuesOf(grid[0]), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(ValuesOf(grid[1]), ElementsAre(3, 4, 5, 3, 4, 5));
  KILN_ASSERT_OK_AND_ASSIGN(
      grid, RunOp(params, "meshgrid((x, y), indexing=\"xy\")", tensors));
  EXPECT_THAT(grid[0].shape, ElementsAre(3, 2));
  EXPECT_THAT(ValuesOf(grid[0]), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_THAT(ValuesOf(grid[1]), ElementsAre(3, 3, 4, 4, 5, 5));
}

}  // namespace
}  // namespace kiln
