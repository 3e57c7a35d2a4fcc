#include "kiln/tools/rivals/op_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"

namespace kiln::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OpCaseTest, CountsTheWorkOfTheProgramAsItIsWritten) {
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase op,
                            MakeOpCase("c2d", {56, 56, 64, 64, 3, 1, 1}, 1));
  // 56 * 3 - 2 pairs of a position and a tap in each direction.
  EXPECT_EQ(op.work.needed_flop.value, 2.0 * 166 * 166 * 64 * 64);
  EXPECT_EQ(op.work.flop.value, 2.0 * 168 * 168 * 64 * 64);
}

TEST(OpCaseTest, HasRandomInputsAndAnOutputOfTheRightShape) {
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase op,
                            MakeOpCase("dil", {9, 11, 3, 5, 3, 2, 1, 2}, 2));
  ASSERT_EQ(op.args.size(), 3u);
  EXPECT_THAT(op.output().shape(), ElementsAre(1, 4, 5, 5));
  EXPECT_NE(op.input(0)[0], op.input(0)[1]);
  EXPECT_NE(op.input(0)[0], op.input(1)[0]);
  EXPECT_EQ(op.spec(), "dil:9,11,3,5,3,2,1,2");
}

TEST(OpCaseTest, ConvolutionsHaveTheExtentsOfTheirOutputs) {
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase op,
                            MakeOpCase("t2d", {4, 5, 3, 2, 4, 2, 1}, 1));
  const std::optional<ConvShape> conv = ConvShapeOf(op);
  ASSERT_TRUE(conv.has_value());
  EXPECT_THAT(conv->out, ElementsAre(8, 10));
  EXPECT_THAT(op.output().shape(), ElementsAre(1, 8, 10, 2));
}

TEST(OpCaseTest, OnlyPlainPointwiseConvolutionsAreProducts) {
  const auto is_product = [](const char* name, std::vector<int64_t> dims) {
    return ConvShapeOf(*MakeOpCase(name, dims, 1))->is_product();
  };
  EXPECT_TRUE(is_product("c2d", {8, 8, 4, 6, 1, 1, 0}));
  EXPECT_FALSE(is_product("c2d", {8, 8, 4, 6, 1, 2, 0}));
  EXPECT_FALSE(is_product("c2d", {8, 8, 4, 6, 3, 1, 1}));
  EXPECT_FALSE(is_product("grp", {8, 8, 4, 8, 1, 1, 0, 2}));
}

TEST(OpCaseTest, TheRooflineIsThatOfTheLevelThatHoldsTheData) {
  const Machine machine;
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase small, MakeOpCase("sfm", {8, 64}, 1));
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase large,
                            MakeOpCase("sfm", {2048, 2048}, 1));
  const Roofline near = RooflineOf(small, machine, 1e6);
  const Roofline far = RooflineOf(large, machine, 1e6);
  EXPECT_EQ(near.level, MemoryLevelId::kL1);
  EXPECT_EQ(far.level, MemoryLevelId::kMemory);
  EXPECT_TRUE(far.by_bandwidth);
  // 16 MiB read at 15 GB/s and written at 10.
  EXPECT_NEAR(far.seconds, 16.777e-3 * (1 / 15. + 1 / 10.), 1e-6);
}

TEST(OpCaseTest, TheRooflineOfProductsIsArithmetic) {
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase op,
                            MakeOpCase("gmm", {256, 256, 256}, 1));
  const Roofline roofline = RooflineOf(op, Machine{}, 100);
  EXPECT_FALSE(roofline.by_bandwidth);
  EXPECT_NEAR(roofline.seconds, op.work.needed_flop.value / 100e9, 1e-12);
}

TEST(OpCaseTest, RefusesWhatIsNoWorkload) {
  EXPECT_THAT(MakeOpCase("conv", {1, 2}, 1).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown name \"conv\"")));
  EXPECT_THAT(MakeOpCase("sfm", {1, 2, 3}, 1).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has 3 dimensions, not 2")));
}

}  // namespace
}  // namespace kiln::bench
