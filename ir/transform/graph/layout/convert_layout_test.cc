// What a program is after the pass, by kinds of ops: those that follow, those
// that are brought their operands, and those that get what they had. That the
// results stay, random_layout_test.cc shows.
#include "kiln/ir/transform/graph/layout/convert_layout.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

constexpr char kHead[] = R"(
@R.function
def main(x: R.Tensor((2, 8, 6, 6), "float32"), w: R.Tensor((4, 8, 3, 3), "float32"), b: R.Tensor((1, 4, 1, 1), "float32"), c: R.Tensor((4, 1, 1), "float32"), g: R.Tensor((4,), "float32")):
    with R.dataflow():
)";

// The program of these bindings, the last of which is called `out`.
std::string Program(const std::vector<std::string>& bindings) {
  return absl::StrCat(kHead, "        ", absl::StrJoin(bindings, "\n        "),
                      "\n        R.output(out)\n    return out\n");
}

constexpr char kConv[] = "y = R.nn.conv2d(x, w)";
constexpr char kConvNhwc[] =
    "y = R.nn.conv2d(x1, w1, data_layout=\"NHWC\", kernel_layout=\"OHWI\", "
    "out_layout=\"NHWC\")";
const char* const kToNhwc[] = {"x1 = R.permute_dims(x, axes=[0, 2, 3, 1])",
                               "w1 = R.permute_dims(w, axes=[0, 2, 3, 1])"};

const DesiredLayouts kNhwc = {{"relax.nn.conv2d", {"NHWC", "OHWI"}}};
const DesiredLayouts kBlocked = {{"relax.nn.conv2d", {"NCHW4c", "OIHW4o"}}};

absl::StatusOr<Module> Converted(const std::string& text,
                                 const DesiredLayouts& desired) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(text));
  if (!module.ok()) return module.status();
  return ConvertLayout(*module, desired);
}

// Where the program after the pass is another one than `wanted`; "" where it is
// not.
std::string Difference(const std::string& text, const DesiredLayouts& desired,
                       const std::string& wanted) {
  const absl::StatusOr<Module> found = Converted(text, desired);
  if (!found.ok()) return std::string(found.status().message());
  const absl::StatusOr<Module> after = InferModule(ReadModule(wanted));
  if (!after.ok()) return std::string(after.status().message());
  return FirstDifference(*after, *found).value_or("");
}

// What follows a convolution in NHWC: `given` before the pass, `wanted` after.
std::string AfterConvolution(const std::vector<std::string>& given,
                             const std::vector<std::string>& wanted) {
  std::vector<std::string> before = {kConv};
  before.insert(before.end(), given.begin(), given.end());
  std::vector<std::string> after = {kToNhwc[0], kToNhwc[1], kConvNhwc};
  after.insert(after.end(), wanted.begin(), wanted.end());
  return Difference(Program(before), kNhwc, Program(after));
}

TEST(ConvertLayoutTest, OpsFollowAndBordersAreBroughtBack) {
  EXPECT_EQ(AfterConvolution({"z = R.nn.relu(y)", "out = R.tanh(z)"},
                             {"z = R.nn.relu(y)", "t = R.tanh(z)",
                              "out = R.permute_dims(t, axes=[0, 3, 1, 2])"}),
            "");
}

TEST(ConvertLayoutTest, OperandsOfABroadcastAreBrought) {
  EXPECT_EQ(AfterConvolution({"out = R.add(b, y)"},
                             {"b1 = R.permute_dims(b, axes=[0, 2, 3, 1])",
                              "z = R.add(b1, y)",
                              "out = R.permute_dims(z, axes=[0, 3, 1, 2])"}),
            "");
  EXPECT_EQ(AfterConvolution(
                {"out = R.add(y, c)"},
                {"c1 = R.permute_dims(c, axes=[1, 2, 0])", "z = R.add(y, c1)",
                 "out = R.permute_dims(z, axes=[0, 3, 1, 2])"}),
            "");
}

TEST(ConvertLayoutTest, AxesAreLookedUp) {
  EXPECT_EQ(AfterConvolution({"out = R.max(y, axis=[-2, 1])"},
                             {"out = R.max(y, axis=[1, 3])"}),
            "");
}

TEST(ConvertLayoutTest, TuplesHaveALayoutForEachField) {
  EXPECT_EQ(AfterConvolution(
                {"t = R.nn.batch_norm(y, g, g, g, g, axis=1)", "out = t[0]"},
                {"t = R.nn.batch_norm(y, g, g, g, g, axis=3)", "z = t[0]",
                 "out = R.permute_dims(z, axes=[0, 3, 1, 2])"}),
            "");
  EXPECT_EQ(
      AfterConvolution(
          {"out = R.split(y, 2, axis=1)"},
          {"t = R.split(y, 2, axis=3)", "a = t[0]",
           "a1 = R.permute_dims(a, axes=[0, 3, 1, 2])", "b1 = t[1]",
           "b2 = R.permute_dims(b1, axes=[0, 3, 1, 2])", "out = (a1, b2)"}),
      "");
}

TEST(ConvertLayoutTest, AnOpWithoutARuleGetsWhatItHad) {
  EXPECT_EQ(AfterConvolution({"out = R.reshape(y, R.shape([2, 64]))"},
                             {"z = R.permute_dims(y, axes=[0, 3, 1, 2])",
                              "out = R.reshape(z, R.shape([2, 64]))"}),
            "");
}

TEST(ConvertLayoutTest, ChannelsStandInBlocks) {
  const std::string to_blocks =
      "x1 = R.layout_transform(x, index_map=T.index_map(lambda n, c, h, w: (n, "
      "c // 4, h, "
      "w, c % 4)))";
  const std::string kernel_to_blocks =
      "w1 = R.layout_transform(w, index_map=T.index_map(lambda o, i, h, w: (o "
      "// 4, i, h, "
      "w, o % 4)))";
  EXPECT_EQ(
      Difference(Program({kConv, "out = R.sum(y, axis=[2, 3])"}), kBlocked,
                 Program({to_blocks, kernel_to_blocks,
                          "y = R.nn.conv2d(x1, w1, data_layout=\"NCHW4c\", "
                          "kernel_layout=\"OIHW4o\", out_layout=\"NCHW4c\")",
                          "s = R.sum(y, axis=[2, 3])",
                          "out = R.layout_transform(s, "
                          "index_map=T.index_map(lambda n, c, p: (n, "
                          "c * 4 + p)))"})),
      "");
}

TEST(ConvertLayoutTest, ChannelsThatDoNotDivideStay) {
  const std::string text = Program({kConv, "out = R.nn.relu(y)"});
  const DesiredLayouts desired = {{"relax.nn.conv2d", {"NCHW3c", "OIHW3o"}}};
  EXPECT_EQ(Difference(text, desired, text), "");
}

TEST(ConvertLayoutTest, WhatIsAskedForIsChecked) {
  const std::string text = Program({"out = R.nn.conv2d(x, w)"});
  const auto error = [&](const DesiredLayouts& desired) {
    return std::string(Converted(text, desired).status().message());
  };
  using testing::HasSubstr;
  EXPECT_THAT(error({{"relax.nn.relu", {"NHWC"}}}),
              HasSubstr("no layouts can be asked for `relax.nn.relu`"));
  EXPECT_THAT(error({{"relax.nn.conv2d", {"NHWC"}}}),
              HasSubstr("is given 1 layouts"));
  EXPECT_THAT(error({{"relax.nn.conv2d", {"NHWC", "NHWC"}}}),
              HasSubstr("is not of the axes OIHW"));
}

TEST(ConvertLayoutTest, AnotherNameIsBroughtBackAtOnce) {
  EXPECT_EQ(AfterConvolution({"z = R.nn.relu(y)", "out = z"},
                             {"z = R.nn.relu(y)",
                              "out = R.permute_dims(z, axes=[0, 3, 1, 2])"}),
            "");
}

}  // namespace
}  // namespace kiln
