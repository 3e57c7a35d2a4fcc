#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

TEST(PadColumnsTest, ThreeChannelsBecomeFour) {
  const Module module = *MakeWorkload("t2d:4,4,5,3,4,2,1");
  const auto made = ApplyRule(PadColumns, module, "conv2d_transpose_nhwc");
  ASSERT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made, 1);
}

// Its channels begin at those of group c // 3, the only one.
TEST(PadColumnsTest, AConvolutionOfOneGroupStaysOne) {
  const Module module = *MakeWorkload("c2d:4,5,5,3,3,1,1");
  const auto made = ApplyRule(PadColumns, module, "conv2d_nhwc");
  ASSERT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made, 1);
}

TEST(PadColumnsTest, WhereSumsFillVectorsOutputsMayStayNarrow) {
  const Module module = *MakeWorkload("t2d:4,4,16,3,4,2,1");
  const auto made = ApplyRule(PadColumns, module, "conv2d_transpose_nhwc");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_GT(made[0].trace().instructions.size(), 0u);
  EXPECT_EQ(made[1].trace().instructions.size(), 0u);
}

TEST(PadColumnsTest, OneColumnEnoughColumnsAndSumsOfRowsStay) {
  const auto made = [](const char* spec, const char* block) {
    return ApplyRule(PadColumns, *MakeWorkload(spec), block);
  };
  EXPECT_TRUE(made("c2d:6,6,4,1,3,1,1", "conv2d_nhwc").empty());
  EXPECT_TRUE(made("c2d:6,6,4,5,3,1,1", "conv2d_nhwc").empty());
  EXPECT_TRUE(made("c2d:6,6,4,3,3,1,1", "PadInput").empty());
  EXPECT_TRUE(made("sfm:3,64", "T_softmax_expsum").empty());
}

TEST(PadColumnsTest, RowsThatGoOnStay) {
  const auto made = [](const std::string& columns, const std::string& shape) {
    return ApplyRule(PadColumns,
                     ParseProgram(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((9, 20), "float32"), B: T.Buffer($1, "float32"), C: T.Buffer((9, 5, 3), "float32")):
    for i, e, d, k in T.grid(9, 5, 3, 20):
        with T.block("C"):
            vi, ve, vd, vk = T.axis.remap("SSSR", [i, e, d, k])
            with T.init():
                C[vi, ve, vd] = T.float32(0)
            C[vi, ve, vd] = C[vi, ve, vd] + A[vi, vk] * B[vk, $0]
)",
                                                   columns, shape)),
                     "C");
  };
  EXPECT_TRUE(made("ve, vd", "(20, 5, 3)").empty());
  EXPECT_FALSE(made("vd, ve", "(20, 3, 5)").empty());
}

}  // namespace
}  // namespace kiln
