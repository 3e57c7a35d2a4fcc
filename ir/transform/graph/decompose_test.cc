#include "kiln/ir/transform/graph/decompose.h"

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

// A batch norm of (2, 3, 4), a batch of which `axis` are channels.
std::string BatchNorm(const std::string& channels, const std::string& attrs,
                      const std::string& dtype = "float32") {
  std::string text =
      "@R.function\ndef main(x: R.Tensor((2, 3, 4), \"" + dtype + "\")";
  for (const char* name : {"g", "b", "m", "v"}) {
    text += std::string(", ") + name + ": R.Tensor((" + channels + ",), \"" +
            dtype + "\")";
  }
  return text + "):\n    t = R.nn.batch_norm(x, g, b, m, v, " + attrs +
         ")\n    return t\n";
}

std::string After(const std::string& pass, const std::string& text) {
  const absl::StatusOr<Module> after =
      RunGraphPasses(ReadModule(text), {pass, "infer"});
  return after.ok() ? PrintModule(*after)
                    : std::string(after.status().message());
}

TEST(DecomposeTest, ABatchNormThatIsUsedTakesItsMovingMoments) {
  EXPECT_EQ(DifferenceAfter({"decompose_for_inference"},
                            BatchNorm("3", "axis=1, epsilon=0.5"), R"(
@R.function
def main(x: R.Tensor((2, 3, 4), "float32"), g: R.Tensor((3,), "float32"), b: R.Tensor((3,), "float32"), m: R.Tensor((3,), "float32"), v: R.Tensor((3,), "float32")):
    mean = R.expand_dims(m, axis=[0, 2])
    distance = R.subtract(x, mean)
    variance = R.expand_dims(v, axis=[0, 2])
    sum = R.add(variance, R.const(0.5, "float32"))
    spread = R.sqrt(sum)
    normal = R.divide(distance, spread)
    gamma = R.expand_dims(g, axis=[0, 2])
    scaled = R.multiply(normal, gamma)
    beta = R.expand_dims(b, axis=[0, 2])
    y = R.add(scaled, beta)
    t = (y, m, v)
    return t
)"),
            "");
}

TEST(DecomposeTest, WhatIsComputedStays) {
  for (const char* attrs :
       {"axis=1, training=False", "axis=-2, training=False, scale=False",
        "axis=1, training=False, center=False, epsilon=0.01"}) {
    EXPECT_EQ(MeaningAfter({"decompose_for_inference"}, BatchNorm("3", attrs)),
              "");
    EXPECT_EQ(MeaningAfter({"decompose_for_training"}, BatchNorm("3", attrs)),
              "");
  }
  for (const char* attrs :
       {"axis=2, training=True", "axis=-1, momentum=0.3, center=False",
        "axis=2, training=True, scale=False, epsilon=0.01"}) {
    for (const char* dtype : {"float32", "float64", "float16"}) {
      EXPECT_EQ(MeaningAfter({"decompose_for_training"},
                             BatchNorm("4", attrs, dtype)),
                "")
          << attrs << dtype;
    }
  }
}

TEST(DecomposeTest, LayerNormsAreDecomposedForTraining) {
  const std::string params =
      "@R.function\ndef main(x: R.Tensor((\"n\", 3, 4), \"float32\"), ";
  const struct {
    const char *shape, *axes;
  } kCases[] = {
      {"4,", "[-1]"}, {"3, 4", "[1, 2]"}, {"3,", "[1]"}, {"3, 4", "[-2, -1]"}};
  for (const auto& c : kCases) {
    const std::string text =
        params + "g: R.Tensor((" + c.shape + "), \"float32\"), b: R.Tensor((" +
        c.shape +
        "), \"float32\")):\n    y = R.nn.layer_norm(x, g, b, axes=" + c.axes +
        ")\n    return y\n";
    EXPECT_EQ(MeaningAfter({"decompose_for_training"}, text), "") << text;
    EXPECT_THAT(After("decompose_for_training", text),
                Not(HasSubstr("layer_norm")));
    EXPECT_THAT(After("decompose_for_inference", text),
                HasSubstr("layer_norm"));
  }
}

TEST(DecomposeTest, AxesThatDoNotAscendStay) {
  constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((2, 3, 4), "float32"), g: R.Tensor((4, 3), "float32"), b: R.Tensor((4, 3), "float32")):
    y = R.nn.layer_norm(x, g, b, axes=[2, 1])
    return y
)";
  EXPECT_EQ(DifferenceAfter({"decompose_for_training"}, kText, kText), "");
}

TEST(DecomposeTest, NormsOfBranchesAndLocalFunctionsAreDecomposed) {
  constexpr char kText[] = R"(
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32"), g: R.Tensor((3,), "float32")):
    @R.function
    def local(y: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            t = R.nn.batch_norm(y, g, g, g, g, axis=1, training=False)
            z = t[0]
            R.output(z)
        return z
    if c:
        s = R.nn.batch_norm(x, g, g, g, g, axis=1, training=False)
        r = s[0]
    else:
        r = local(x)
    return r
)";
  EXPECT_EQ(MeaningAfter({"decompose_for_inference"}, kText), "");
  EXPECT_THAT(After("decompose_for_inference", kText),
              Not(HasSubstr("batch_norm")));
}

TEST(DecomposeTest, OneDimensionHasNoMomentsOfABatch) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((3,), "float32"), g: R.Tensor((3,), "float32")):
    t = R.nn.batch_norm(x, g, g, g, g, axis=0)
    return t
)";
  EXPECT_EQ(DifferenceAfter({"decompose_for_training"}, text, text), "");
  EXPECT_THAT(After("decompose_for_inference", text),
              HasSubstr("R.subtract(x, g)"));
}

}  // namespace
}  // namespace kiln
