// Products of other forms as products of matrices: which axes are what, and
// what the blocks become.
#include "kiln/search/space/rule/matrix_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kConvolution[] = R"(
@T.prim_func
def main(X: T.Buffer((1, 8, 9, 4), "float32"), W: T.Buffer((3, 3, 4, 6), "float32"),
         Y: T.Buffer((1, 6, 7, 6), "float32")):
    for n, h, w, f, r, s, c in T.grid(1, 6, 7, 6, 3, 3, 4):
        with T.block("C"):
            vn, vh, vw, vf, vr, vs, vc = T.axis.remap("SSSSRRR", [n, h, w, f, r, s, c])
            with T.init():
                Y[vn, vh, vw, vf] = 0
            Y[vn, vh, vw, vf] = Y[vn, vh, vw, vf] + X[vn, vh + vr, vw + vs, vc] * W[vr, vs, vc, vf]
)";

constexpr char kBatch[] = R"(
@T.prim_func
def main(A: T.Buffer((3, 5, 4), "float32"), B: T.Buffer((3, 6, 4), "float32"),
         Y: T.Buffer((3, 5, 6), "float32")):
    for b, i, j, k in T.grid(3, 5, 6, 4):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                Y[vb, vi, vj] = 0
            Y[vb, vi, vj] = Y[vb, vi, vj] + A[vb, vi, vk] * B[vb, vj, vk]
)";

constexpr char kDepthwise[] = R"(
@T.prim_func
def main(X: T.Buffer((8, 8), "float32"), W: T.Buffer((3, 8), "float32"),
         Y: T.Buffer((6, 8), "float32")):
    for h, c, r in T.grid(6, 8, 3):
        with T.block("C"):
            vh, vc, vr = T.axis.remap("SSR", [h, c, r])
            with T.init():
                Y[vh, vc] = 0
            Y[vh, vc] = Y[vh, vc] + X[vh + vr, vc] * W[vr, vc]
)";

std::optional<MatrixAxes> AxesOf(const std::string& text) {
  return MatrixAxesOf(*DescribeBlock(ParseProgram(text).functions[0], "C"));
}

TEST(MatrixForm, AxesAreWhatTheyMove) {
  const auto image = AxesOf(kConvolution);
  ASSERT_TRUE(image);
  EXPECT_THAT(image->rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(image->columns, ElementsAre(3));
  EXPECT_THAT(image->steps, ElementsAre(4, 5, 6));
  EXPECT_EQ(image->column_operand.index, 1);
  const auto batch = AxesOf(kBatch);
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->batch, ElementsAre(0));
  EXPECT_THAT(batch->rows, ElementsAre(1));
}

TEST(MatrixForm, StepsThroughARowOfAnImageAreContiguous) {
  const auto contiguous = [](const std::string& text) {
    const auto info = DescribeBlock(ParseProgram(text).functions[0], "C");
    return ContiguousSteps(*info, *MatrixAxesOf(*info));
  };
  EXPECT_THAT(contiguous(kConvolution), ElementsAre(5, 6));
  EXPECT_THAT(contiguous(kBatch), ElementsAre(3));
  const std::string apart = absl::StrReplaceAll(
      kConvolution,
      {{"vw + vs, vc]", "vw + vs, vc * 2]"}, {"(1, 8, 9, 4)", "(1, 8, 9, 8)"}});
  EXPECT_THAT(contiguous(apart), IsEmpty());
}

TEST(MatrixForm, WithoutRowsThereIsNone) { EXPECT_FALSE(AxesOf(kDepthwise)); }

// The program in that form, which computes the same.
std::string Form(const std::string& text, const MatrixPadding& padding,
                 std::optional<size_t> inner_steps = std::nullopt) {
  const Module module = ParseProgram(text);
  const auto info = DescribeBlock(module.functions[0], "C");
  auto axes = MatrixAxesOf(*info);
  if (inner_steps) axes = WithOuterSteps(*axes, *inner_steps);
  Schedule sch(module);
  const Rv block = *sch.GetBlock("C");
  const auto form =
      ToMatrixForm(&sch, block, *info, *axes, padding, RuleContext());
  EXPECT_TRUE(form.ok()) << form.status();
  const Function& made = *sch.state().functions[0];
  KILN_EXPECT_OK(CheckCloseResults(module.functions[0], made, 5));
  return PrintFunction(made);
}

TEST(MatrixForm, WindowsBecomeRows) {
  const std::string text = Form(kConvolution, {16, 4, 8});
  EXPECT_THAT(text, HasSubstr("X_reindex_pad = T.alloc_buffer((48, 40)"));
  EXPECT_THAT(text, HasSubstr("W_reindex_pad = T.alloc_buffer((8, 40)"));
  EXPECT_THAT(text, HasSubstr("Y_reindex_pad = T.alloc_buffer((48, 8)"));
}

TEST(MatrixForm, StepsOfEachRowOfAWindowArePaddedByThemselves) {
  const std::string text = Form(kConvolution, {16, 4, 8}, 2);
  EXPECT_THAT(text, HasSubstr("X_reindex_pad = T.alloc_buffer((48, 3, 16)"));
  EXPECT_THAT(text, HasSubstr("W_reindex_pad = T.alloc_buffer((8, 3, 16)"));
  EXPECT_THAT(text, HasSubstr("Y_reindex_pad = T.alloc_buffer((48, 8)"));
}

TEST(MatrixForm, WhatDividesIsNotPadded) {
  const std::string text = Form(kBatch, {5, 3, 2});
  EXPECT_THAT(text, HasSubstr("A_reindex = T.alloc_buffer((3, 5, 4)"));
  EXPECT_THAT(text, Not(HasSubstr("pad")));
}

}  // namespace
}  // namespace kiln
