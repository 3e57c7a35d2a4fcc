#include "kiln/ir/transform/graph/layout/channels_last.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A call of the convolution, then relu, in a dataflow block.
std::string Text(const std::string& x, const std::string& w,
                 const std::string& call) {
  return "@R.function\ndef main(x: R.Tensor((" + x +
         "), \"float32\"), w: R.Tensor((" + w +
         "), \"float32\")):\n    with R.dataflow():\n        y = R.nn." + call +
         "\n        z = R.nn.relu(y)\n        R.output(z)\n    return z\n";
}

std::string After(const std::string& text) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(text));
  KILN_EXPECT_OK(module);
  absl::StatusOr<Module> after = ToChannelsLast(*module);
  KILN_EXPECT_OK(after);
  after = InferModule(*after);
  KILN_EXPECT_OK(after);
  KILN_EXPECT_OK(SameResults(*module, *after, /*seed=*/1, {{"h", 7}}));
  return PrintModule(*after);
}

TEST(ChannelsLastTest, WindowsAndStepsGoAcrossRows) {
  EXPECT_THAT(After(Text("1, 3, 6, 5", "4, 3, 3, 3", "conv2d(x, w)")),
              HasSubstr("data_layout=\"NHWC\", kernel_layout=\"HWIO\""));
  EXPECT_THAT(
      After(Text("2, 3, 6, 5", "4, 3, 1, 1", "conv2d(x, w, strides=2)")),
      HasSubstr("NHWC"));
  EXPECT_THAT(After(Text("1, 4, 6, 5", "4, 1, 3, 3",
                         "conv2d(x, w, groups=4, strides=[1, 2])")),
              HasSubstr("NHWC"));
  EXPECT_THAT(After(Text("1, 3, 9", "4, 3, 3", "conv1d(x, w, padding=1)")),
              HasSubstr("data_layout=\"NWC\", kernel_layout=\"WIO\""));
  EXPECT_THAT(After(Text("1, 2, 4, 5, 3", "3, 2, 1, 2, 2", "conv3d(x, w)")),
              HasSubstr("data_layout=\"NDHWC\", kernel_layout=\"DHWIO\""));
  EXPECT_THAT(After(Text("1, 3, 4, 5", "3, 2, 2, 2",
                         "conv2d_transpose(x, w, strides=2)")),
              HasSubstr("data_layout=\"NHWC\""));
  EXPECT_THAT(After(Text("1, 3, \"h\", 5", "4, 3, 3, 3", "conv2d(x, w)")),
              HasSubstr("NHWC"));
}

TEST(ChannelsLastTest, OthersStayAsTheyAre) {
  EXPECT_THAT(After(Text("1, 3, 6, 5", "4, 3, 1, 1", "conv2d(x, w)")),
              Not(HasSubstr("permute")));
  EXPECT_THAT(After(Text("1, 4, 6, 5", "4, 1, 3, 3", "conv2d(x, w, groups=4)")),
              Not(HasSubstr("permute")));
  EXPECT_THAT(After(Text("1, 6, 5, 3", "4, 3, 3, 3",
                         "conv2d(x, w, data_layout=\"NHWC\")")),
              Not(HasSubstr("permute")));
}

}  // namespace
}  // namespace kiln
