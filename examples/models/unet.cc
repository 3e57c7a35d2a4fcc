#include "absl/strings/str_cat.h"
#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

Value TwoConvs(Network& net, Value x, const std::string& name, int64_t out) {
  for (const char* part : {"_a", "_b"}) {
    x = net.Conv(x, absl::StrCat(name, part, "_conv"), out,
                 {.kernel = 3, .pad = 1});
    x = net.Relu(net.BatchNorm(x, absl::StrCat(name, part, "_norm")));
  }
  return x;
}

Value Enlarged(Network& net, Value x, const std::string& name, int64_t out,
               bool resizes) {
  if (!resizes) return net.ConvTranspose(x, name, out, 2);
  return net.Conv(net.Resize(x, 2), name, out, {.kernel = 3, .pad = 1}, 2,
                  /*has_bias=*/true);
}

}  // namespace

Network UNet(const UNetSizes& sizes) {
  Network net("unet");
  Value x =
      net.Floats("image", {{sizes.batch, "n"}, 3, sizes.image, sizes.image});
  std::vector<Value> seen;
  int64_t width = sizes.width;
  for (int64_t level = 0; level < sizes.depth; ++level, width *= 2) {
    seen.push_back(TwoConvs(net, x, absl::StrCat("down", level), width));
    x = net.MaxPool(seen.back(), {.kernel = 2, .stride = 2});
  }
  x = TwoConvs(net, x, "bottom", width);
  for (int64_t level = sizes.depth; level-- > 0;) {
    width /= 2;
    const std::string name = absl::StrCat("up", level);
    x = Enlarged(net, x, name + "_enlarge", width, sizes.resizes);
    x = TwoConvs(net, net.Concat({seen[level], x}, 1), name, width);
  }
  net.Output(net.Conv(x, "classifier", sizes.classes, {}, 1,
                      /*has_bias=*/true));
  return net;
}

}  // namespace kiln::models
