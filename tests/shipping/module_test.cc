// A model that this program is linked to, by bazel/tensor_module.bzl.
#include "kiln/vm/capi/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kiln/vm/capi/kiln.h"
#include "tests/shipping/shipped.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModuleTest, FunctionsHaveTypes) {
  using Main =
      rt::Result (shipped::Module::*)(rt::Tensor<const float, 2>, int64_t);
  EXPECT_TRUE((std::is_same_v<decltype(&shipped::Module::main), Main>));
  using RowSums = rt::Result (shipped::Module::*)(rt::Tensor<const float, 2>,
                                                  rt::Tensor<float, 1>);
  EXPECT_TRUE((std::is_same_v<decltype(&shipped::Module::row_sums), RowSums>));
}

TEST(ModuleTest, GraphFunctionsGiveValues) {
  std::vector<float> x(3 * 8);
  std::iota(x.begin(), x.end(), 0.0f);
  shipped::Module model;
  ASSERT_TRUE(model.ok()) << model.error();
  const rt::Result y = model.main({x.data(), {3, 8}}, 5);
  ASSERT_TRUE(y.ok()) << y.error();
  const rt::Result twice = y.field(0), k = y.field(1);
  const auto got = twice.tensor<float, 2>();
  EXPECT_THAT(got.shape, ElementsAre(3, 8));
  for (int64_t i = 0; i < got.size(); ++i) EXPECT_EQ(got.data[i], 2 * x[i]);
  int64_t five = 0;
  EXPECT_EQ(KilnValueInteger(k.value(), &five), KILN_OK);
  EXPECT_EQ(five, 5);
  // Of another type or rank there is none.
  EXPECT_EQ((twice.tensor<double, 2>().data), nullptr);
  EXPECT_EQ((twice.tensor<float, 1>().data), nullptr);
  EXPECT_THAT(y.field(7).error(), HasSubstr("the tuple has 3 fields"));
}

TEST(ModuleTest, TensorFunctionsWrite) {
  const std::vector<float> x(2 * 8, 3);
  std::vector<float> sums(2);
  shipped::Module model(1);
  const rt::Result done =
      model.row_sums({x.data(), {2, 8}}, {sums.data(), {2}});
  ASSERT_TRUE(done.ok()) << done.error();
  EXPECT_THAT(sums, ElementsAre(24, 24));
  const rt::Result wrong =
      model.row_sums({x.data(), {2, 8}}, {sums.data(), {1}});
  EXPECT_THAT(wrong.error(), HasSubstr("an extent is 1"));
}

TEST(ModuleTest, TwoMachinesAreApart) {
  shipped::Module first(1), second(1);
  const std::vector<float> x(8, 1);
  const rt::Result a = first.main({x.data(), {1, 8}}, 1);
  const rt::Result b = second.main({x.data(), {1, 8}}, 2);
  ASSERT_TRUE(a.ok() && b.ok());
  const rt::Result of_first = a.field(0), of_second = b.field(0);
  const auto x1 = of_first.tensor<float, 2>(),
             x2 = of_second.tensor<float, 2>();
  EXPECT_NE(x1.data, x2.data);
}

}  // namespace
}  // namespace kiln
