#include "absl/strings/str_cat.h"
#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

constexpr int64_t kExpansion = 4;
constexpr double kResidualGain = 0.3;  // of what a block adds

Value ConvNorm(Network& net, Value x, const std::string& name, int64_t out,
               Window window, double gain = 1) {
  const Value y = net.Conv(x, name + "_conv", out, window);
  return net.BatchNorm(y, name + "_norm", gain);
}

Value Bottleneck(Network& net, Value x, const std::string& name, int64_t width,
                 int64_t stride) {
  const int64_t out = width * kExpansion;
  Value y = net.Relu(ConvNorm(net, x, name + "_a", width, {.kernel = 1}));
  y = net.Relu(ConvNorm(net, y, name + "_b", width,
                        {.kernel = 3, .stride = stride, .pad = 1}));
  y = ConvNorm(net, y, name + "_c", out, {.kernel = 1}, kResidualGain);
  const bool is_same = stride == 1 && net.shape(x)[1] == out;
  const Value shortcut = is_same ? x
                                 : ConvNorm(net, x, name + "_shortcut", out,
                                            {.kernel = 1, .stride = stride});
  return net.Relu(net.Add(y, shortcut));
}

}  // namespace

Network ResNet(const ResNetSizes& sizes) {
  Network net("resnet");
  Value x =
      net.Floats("image", {{sizes.batch, "n"}, 3, sizes.image, sizes.image});
  x = net.Relu(ConvNorm(net, x, "stem", sizes.width,
                        {.kernel = 7, .stride = 2, .pad = 3}));
  x = net.MaxPool(x, {.kernel = 3, .stride = 2, .pad = 1});
  int64_t width = sizes.width;
  for (size_t stage = 0; stage < sizes.blocks.size(); ++stage, width *= 2) {
    for (int64_t block = 0; block < sizes.blocks[stage]; ++block) {
      x = Bottleneck(net, x, absl::StrCat("stage", stage, "_block", block),
                     width, stage > 0 && block == 0 ? 2 : 1);
    }
  }
  net.Output(net.Dense(net.GlobalAvgPool(x), "classifier", sizes.classes));
  return net;
}

}  // namespace kiln::models
