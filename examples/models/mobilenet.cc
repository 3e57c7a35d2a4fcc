#include "absl/strings/str_cat.h"
#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

constexpr double kResidualGain = 0.5;  // of what a block adds

// Behind a ReLU, and behind a block, which ends without one.
constexpr double kHalved = 2, kWhole = 1;

Value ConvNorm(Network& net, Value x, const std::string& name, int64_t out,
               Window window, double gain) {
  return net.BatchNorm(net.Conv(x, name + "_conv", out, window, gain),
                       name + "_norm");
}

Value Inverted(Network& net, Value x, const std::string& name,
               const MobileNetSizes::Stage& stage, int64_t stride) {
  const int64_t in = net.shape(x)[1], width = in * stage.expansion;
  Value y = x;
  if (stage.expansion > 1) {
    y = net.Relu6(ConvNorm(net, y, name + "_expand", width, {}, kWhole));
  }
  const Window depthwise = {
      .kernel = 3, .stride = stride, .pad = 1, .groups = width};
  y = net.Relu6(ConvNorm(net, y, name + "_depthwise", width, depthwise,
                         stage.expansion > 1 ? kHalved : kWhole));
  y = net.Conv(y, name + "_project_conv", stage.out, {}, kHalved);
  const bool adds = stride == 1 && in == stage.out;
  y = net.BatchNorm(y, name + "_project_norm", adds ? kResidualGain : 1);
  return adds ? net.Add(x, y) : y;
}

}  // namespace

Network MobileNet(const MobileNetSizes& sizes) {
  Network net("mobilenet");
  Value x =
      net.Floats("image", {{sizes.batch, "n"}, 3, sizes.image, sizes.image});
  x = net.Relu6(ConvNorm(net, x, "stem", sizes.stem,
                         {.kernel = 3, .stride = 2, .pad = 1}, kHalved));
  int block = 0;
  for (const MobileNetSizes::Stage& stage : sizes.stages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = Inverted(net, x, absl::StrCat("block", block++), stage,
                   i == 0 ? stage.stride : 1);
    }
  }
  x = net.Relu6(ConvNorm(net, x, "last", sizes.last, {}, kWhole));
  net.Output(net.Dense(net.GlobalAvgPool(x), "classifier", sizes.classes));
  return net;
}

}  // namespace kiln::models
