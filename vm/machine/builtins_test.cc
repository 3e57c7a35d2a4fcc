#include "kiln/vm/machine/builtins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NDArray Numbers(std::vector<int64_t> shape, const std::vector<double>& values,
                DType dtype = DType::Float(32)) {
  NDArray array = *NDArray::Empty(std::move(shape), dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(array.data(), dtype, static_cast<int64_t>(i), values[i]);
  }
  return array;
}

std::vector<double> ValuesOf(const Value& value) {
  const NDArray& array = std::get<NDArray>(value);
  std::vector<double> values;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    values.push_back(LoadElement(array.data(), array.dtype(), i));
  }
  return values;
}

absl::StatusOr<Value> Call(const std::string& name,
                           const std::vector<Value>& args) {
  return (*Builtins().Find("kiln.builtin." + name))(args);
}

TEST(BuiltinsTest, UniqueGivesWhatIsAskedFor) {
  const NDArray x = Numbers({4}, {3, 1, 3, 2});
  KILN_ASSERT_OK_AND_ASSIGN(
      const Value all,
      Call("unique", {x, int64_t{1}, int64_t{1}, int64_t{1}, int64_t{1}}));
  const auto& fields = std::get<Tuple>(all)->fields;
  ASSERT_EQ(fields.size(), 4);
  EXPECT_THAT(ValuesOf(fields[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(ValuesOf(fields[1]), ElementsAre(1, 3, 0));
  EXPECT_THAT(ValuesOf(fields[2]), ElementsAre(2, 0, 2, 1));
  EXPECT_THAT(ValuesOf(fields[3]), ElementsAre(1, 1, 2));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Value unsorted,
      Call("unique", {x, int64_t{0}, int64_t{0}, int64_t{1}, int64_t{0}}));
  const auto& two = std::get<Tuple>(unsorted)->fields;
  EXPECT_THAT(ValuesOf(two[0]), ElementsAre(3, 1, 2));
  EXPECT_THAT(ValuesOf(two[1]), ElementsAre(0, 1, 0, 2));
}

TEST(BuiltinsTest, UniqueLooksAtSlicesOfAnAxis) {
  const NDArray x = Numbers({2, 3}, {1, 0, 1, 2, 5, 2}, DType::Int(64));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Value columns,
      Call("unique",
           {x, int64_t{1}, int64_t{0}, int64_t{0}, int64_t{0}, int64_t{-1}}));
  EXPECT_EQ(Describe(columns), "int64[2, 2]");
  EXPECT_THAT(ValuesOf(columns), ElementsAre(0, 1, 5, 2));
  EXPECT_THAT(Call("unique", {x, int64_t{1}, int64_t{0}, int64_t{0}, int64_t{0},
                              int64_t{2}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("axis 2 is outside of 2 dimensions")));
}

TEST(BuiltinsTest, UniqueKnowsLargeIntegersAndNoNumbers) {
  NDArray large = *NDArray::Empty({2}, DType::Int(64));
  large.data_as<int64_t>()[0] = (int64_t{1} << 60) + 1;
  large.data_as<int64_t>()[1] = int64_t{1} << 60;
  KILN_ASSERT_OK_AND_ASSIGN(const Value two, Call("unique", {large}));
  EXPECT_EQ(Describe(two), "int64[2]");
  KILN_ASSERT_OK_AND_ASSIGN(const Value nans,
                            Call("unique", {Numbers({3}, {NAN, 1, NAN})}));
  EXPECT_EQ(Describe(nans), "float32[2]");
  KILN_ASSERT_OK_AND_ASSIGN(const Value none,
                            Call("unique", {Numbers({0}, {})}));
  EXPECT_THAT(ValuesOf(none), IsEmpty());
}

TEST(BuiltinsTest, NonzeroGivesARowForEachDimension) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Value places,
      Call("nonzero", {Numbers({2, 3}, {0, 4, 0, 5, 0, 6})}));
  EXPECT_EQ(Describe(places), "int64[2, 3]");
  EXPECT_THAT(ValuesOf(places), ElementsAre(0, 1, 1, 1, 0, 2));
  KILN_ASSERT_OK_AND_ASSIGN(const Value scalar,
                            Call("nonzero", {Numbers({}, {7})}));
  EXPECT_EQ(Describe(scalar), "int64[0, 1]");
}

TEST(BuiltinsTest, AVectorIsAShape) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Value shape,
      Call("tensor_to_shape", {Numbers({2}, {4, 5}, DType::Int(64))}));
  EXPECT_EQ(Describe(shape), "shape (4, 5)");
  EXPECT_FALSE(Call("tensor_to_shape", {Numbers({2}, {4, 5})}).ok());
  EXPECT_FALSE(Call("tensor_to_shape", {}).ok());
}

TEST(BuiltinsTest, AnAssertionSaysWhatItIsAbout) {
  KILN_EXPECT_OK(Call("assert_op", {int64_t{1}, std::string("n is odd")}));
  EXPECT_THAT(Call("assert_op",
                   {Numbers({}, {0}, DType::Bool()), std::string("n is odd")}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("the assertion does not hold: n is odd")));
}

}  // namespace
}  // namespace kiln::vm
