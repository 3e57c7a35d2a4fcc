// A convolution and a batch norm in many layouts and types: either it is folded
// and computes the same (ExpectFolded), or it stays (ExpectKept).
//
//   y = R.nn.conv2d(x, w, ...); t = R.nn.batch_norm(y, ...); z = t[0]
#include "kiln/ir/transform/graph/fold_batch_norm.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string data, weight;  // extents
  std::string conv;          // op and attributes
  std::string norm;          // attributes
  std::string dtype = "float32";
};

// A convolution and its batch norm, six channels, and what it gives.
std::string Text(const Case& c, const std::string& rest) {
  const auto tensor = [&](const std::string& extents) {
    return ": R.Tensor((" + extents + "), \"" + c.dtype + "\")";
  };
  std::string params = "x" + tensor(c.data) + ", w" + tensor(c.weight);
  for (const char* name : {"g", "b", "m", "v"}) {
    params += std::string(", ") + name + tensor("6,");
  }
  const size_t comma = c.conv.find(',');
  return "@R.function\ndef main(" + params +
         "):\n    with R.dataflow():\n        y = R.nn." +
         c.conv.substr(0, comma) + "(x, w" + c.conv.substr(comma) +
         ")\n        t = R.nn.batch_norm(y, g, b, m, v, training=False, " +
         c.norm + ")\n" + rest + "        R.output(z)\n    return z\n";
}

constexpr char kField[] = "        z = t[0]\n";
const Case kPlain = {"1, 4, 5, 5", "6, 4, 3, 3", "conv2d, padding=1", "axis=1"};

std::string After(const std::string& text) {
  const absl::StatusOr<Module> after =
      RunGraphPasses(ReadModule(text), {"fold_batchnorm_into_conv2d", "infer"});
  return after.ok() ? PrintModule(*after)
                    : std::string(after.status().message());
}

// Folded, and what is computed stays.
void ExpectFolded(const std::string& text) {
  EXPECT_THAT(After(text), Not(HasSubstr("batch_norm")));
  EXPECT_EQ(MeaningAfter({"fold_batchnorm_into_conv2d"}, text), "");
}

void ExpectKept(const std::string& text) {
  EXPECT_THAT(After(text), HasSubstr("batch_norm"));
  EXPECT_EQ(MeaningAfter({"fold_batchnorm_into_conv2d"}, text), "");
}

TEST(FoldBatchNormTest, FactorsGoIntoTheWeight) {
  EXPECT_EQ(DifferenceAfter({"fold_batchnorm_into_conv2d"}, R"(
@R.function
def main(x: R.Tensor((1, 4, 5, 5), "float32"), w: R.Tensor((6, 4, 3, 3), "float32"), g: R.Tensor((6,), "float32"), b: R.Tensor((6,), "float32"), m: R.Tensor((6,), "float32"), v: R.Tensor((6,), "float32")):
    y = R.nn.conv2d(x, w)
    t = R.nn.batch_norm(y, g, b, m, v, axis=1, epsilon=0.5, training=False)
    z = t[0]
    return z
)",
                            R"(
@R.function
def main(x: R.Tensor((1, 4, 5, 5), "float32"), w: R.Tensor((6, 4, 3, 3), "float32"), g: R.Tensor((6,), "float32"), b: R.Tensor((6,), "float32"), m: R.Tensor((6,), "float32"), v: R.Tensor((6,), "float32")):
    sum = R.add(v, T.float32(0.5))
    spread = R.sqrt(sum)
    factors = R.divide(g, spread)
    shaped = R.reshape(factors, R.shape([6, 1, 1, 1]))
    weight = R.multiply(w, shaped)
    y = R.nn.conv2d(x, weight)
    moved = R.multiply(m, factors)
    bias = R.subtract(b, moved)
    column = R.reshape(bias, R.shape([1, 6, 1, 1]))
    z = R.add(y, column)
    return z
)"),
            "");
}

TEST(FoldBatchNormTest, AnyLayoutThatDoesNotSplitChannels) {
  const Case kCases[] = {
      kPlain,
      {"1, 4, 5, 5", "6, 4, 3, 3", "conv2d, strides=2", "axis=1, scale=False"},
      {"1, 4, 5, 5", "6, 4, 3, 3", "conv2d, dilation=2",
       "axis=-3, center=False, epsilon=0.1"},
      {"1, 4, 5, 5", "6, 2, 3, 3", "conv2d, groups=2", "axis=1"},
      {"2, 5, 5, 4", "3, 3, 4, 6",
       "conv2d, data_layout=\"NHWC\", kernel_layout=\"HWIO\"", "axis=3"},
      {"1, 5, 5, 4", "6, 3, 3, 4",
       "conv2d, data_layout=\"NHWC\", kernel_layout=\"OHWI\", "
       "out_layout=\"NCHW\"",
       "axis=1"},
      {"1, 4, 5", "6, 4, 3", "conv1d, padding=1", "axis=1"},
      {"1, 2, 3, 4, 3", "6, 2, 2, 2, 2", "conv3d, padding=0", "axis=1"},
      {"1, 4, 5, 5", "6, 4, 3, 3", "conv2d, padding=1", "axis=1", "float64"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(Text(c, kField));
    ExpectFolded(Text(c, kField));
  }
}

TEST(FoldBatchNormTest, MovingMomentsAreReadAsTheyAre) {
  const std::string text =
      Text(kPlain,
           "        n = t[1]\n        o = t[2]\n        y0 = t[0]\n"
           "        z = (y0, n, o)\n");
  ExpectFolded(text);
  EXPECT_THAT(After(text), HasSubstr("conv2d"));
}

TEST(FoldBatchNormTest, SymbolicExtentsAndBatches) {
  ExpectFolded(
      Text({"\"n\", 4, \"h\", 5", "6, 4, 3, 3", "conv2d, padding=1", "axis=1"},
           kField));
}

TEST(FoldBatchNormTest, WhatIsReadOtherwiseStays) {
  ExpectKept(Text(kPlain, "        z0 = t[0]\n        z = (z0, y)\n"));
  ExpectKept(Text(kPlain, "        z0 = t[0]\n        z = (z0, t)\n"));
}

TEST(FoldBatchNormTest, AnotherAxisOrSplitChannelsStay) {
  ExpectKept(Text({"1, 4, 8, 5", "6, 4, 3, 3", "conv2d, padding=0", "axis=2"},
                  kField));
  ExpectKept(Text({"1, 2, 5, 5, 2", "3, 2, 3, 3, 2, 2",
                   "conv2d, data_layout=\"NCHW2c\", "
                   "kernel_layout=\"OIHW2i2o\", out_layout=\"NHWC\"",
                   "axis=3"},
                  kField));
}

TEST(FoldBatchNormTest, HalfWeightsUnderNumbersOfFloatStay) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((1, 4, 5, 5), "float16"), w: R.Tensor((6, 4, 3, 3), "float16"), g: R.Tensor((6,), "float32")):
    y = R.nn.conv2d(x, w, out_dtype="float32")
    t = R.nn.batch_norm(y, g, g, g, g, axis=1, training=False)
    z = t[0]
    return z
)";
  ExpectKept(text);
}

TEST(FoldBatchNormTest, MomentsOfTheBatchStayWhereOnlyFixedOnesFold) {
  const std::string fixed = Text(kPlain, kField);
  const std::string trained =
      absl::StrReplaceAll(fixed, {{"training=False", "training=True"}});
  const auto after = [](const std::string& text) {
    const absl::StatusOr<Module> module = RunGraphPasses(
        ReadModule(text), {"fold_fixed_batchnorm_into_conv2d", "infer"});
    return module.ok() ? PrintModule(*module)
                       : std::string(module.status().message());
  };
  EXPECT_THAT(after(fixed), Not(HasSubstr("batch_norm")));
  EXPECT_THAT(after(trained), HasSubstr("batch_norm"));
  for (const std::string& text : {fixed, trained}) {
    EXPECT_EQ(MeaningAfter({"fold_fixed_batchnorm_into_conv2d"}, text), "");
  }
}

TEST(FoldBatchNormTest, BlocksAndBranchesAreNoBorder) {
  ExpectFolded(R"(
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((1, 4, 5, 5), "float32"), w: R.Tensor((6, 4, 3, 3), "float32"), g: R.Tensor((6,), "float32")):
    with R.dataflow():
        y = R.nn.conv2d(x, w)
        R.output(y)
    if c:
        with R.dataflow():
            t = R.nn.batch_norm(y, g, g, g, g, axis=1, training=False)
            z = t[0]
            R.output(z)
        r = z
    else:
        r = R.zeros(R.shape([1, 6, 3, 3]), "float32")
    return r
)");
}

TEST(FoldBatchNormTest, MomentsOfTheBatchStayUnlessAllIsConstant) {
  const std::string training = absl::StrReplaceAll(
      Text(kPlain, kField), {{"training=False", "training=True"}});
  EXPECT_THAT(After(training), HasSubstr("batch_norm"));
  const char* const kConstant = R"(
@R.function
def main(x: R.Tensor((1, 1, 2, 2), "float32")):
    y = R.nn.conv2d(x, R.const([[[[2.0]]]], "float32"))
    t = R.nn.batch_norm(y, R.const([1.0], "float32"), R.const([2.0], "float32"), R.const([3.0], "float32"), R.const([4.0], "float32"), axis=1, training=True)
    z = t[0]
    return z
)";
  EXPECT_THAT(After(kConstant), Not(HasSubstr("batch_norm")));
}

}  // namespace
}  // namespace kiln
