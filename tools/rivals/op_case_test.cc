#include "kiln/tools/rivals/op_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"

namespace kiln::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double MegaFlop(const std::string& workload, std::vector<int64_t> dims) {
  absl::StatusOr<OpCase> op = MakeOpCase(workload, dims, 1);
  KILN_EXPECT_OK(op.status());
  return op.ok() ? NominalFlop(*op) * 1e-6 : 0;
}

TEST(OpCaseTest, CountsOperationsAsThePublishedTablesDo) {
  EXPECT_NEAR(MegaFlop("gmm", {512, 32, 512}), 16.8, 0.05);
  EXPECT_NEAR(MegaFlop("c2d", {56, 56, 64, 64, 1, 1, 0}), 25.7, 0.05);
  EXPECT_NEAR(MegaFlop("grp", {56, 56, 64, 128, 3, 2, 1, 4}), 28.9, 0.05);
  EXPECT_NEAR(MegaFlop("dil", {7, 7, 512, 512, 3, 1, 1, 2}), 118.0, 0.05);
  EXPECT_NEAR(MegaFlop("dep", {112, 112, 32, 3, 1, 1}), 7.2, 0.05);
  EXPECT_NEAR(MegaFlop("t2d", {4, 4, 512, 256, 4, 2, 1}), 67.1, 0.05);
  EXPECT_NEAR(MegaFlop("c1d", {32, 512, 512, 3, 1, 1}), 50.3, 0.05);
  EXPECT_NEAR(MegaFlop("nrm", {1024, 1024}), 2.1, 0.05);
  EXPECT_NEAR(MegaFlop("sfm", {512, 512}), 1.05, 0.05);
  EXPECT_NEAR(MegaFlop("tbg", {128, 12, 64}), 25.2, 0.05);
  EXPECT_NEAR(MegaFlop("cbr", {7, 7, 512, 512, 3, 1, 1}), 231.2, 0.05);
  // 8 * 8 * 16 * 32 outputs with 9 * 4 * 32 terms.
  EXPECT_NEAR(MegaFlop("cap", {16, 16, 32, 32, 3, 2, 1}), 75.5, 0.05);
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
  EXPECT_EQ(near.level, "L1");
  EXPECT_EQ(far.level, "memory");
  EXPECT_TRUE(far.by_bandwidth);
  // 16 MiB read at 15 GB/s and written at 10.
  EXPECT_NEAR(far.seconds, 16.777e-3 * (1 / 15. + 1 / 10.), 1e-6);
}

TEST(OpCaseTest, TheRooflineOfProductsIsArithmetic) {
  KILN_ASSERT_OK_AND_ASSIGN(const OpCase op,
                            MakeOpCase("gmm", {256, 256, 256}, 1));
  const Roofline roofline = RooflineOf(op, Machine{}, 100);
  EXPECT_FALSE(roofline.by_bandwidth);
  EXPECT_NEAR(roofline.seconds, NominalFlop(op) / 100e9, 1e-12);
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
