// Every method appends a node: the layer, its weights with the ranges that keep
// activations from growing or fading, and the shape of what it gives.
//
//   Conv of 64 channels, 3 x 3, gain 2    weights of variance 2 / (64 * 9)
//
// A uniform number in [-a, a) has the variance a * a / 3.
#include "kiln/examples/models/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kiln/base/check.h"

namespace kiln::models {
namespace {

constexpr double kBatchNormEpsilon = 1e-5;
constexpr double kBias = 0.1;

int64_t Product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                         std::multiplies<>());
}

int64_t Slid(int64_t extent, const Window& w) {
  return (extent + 2 * w.pad - w.kernel) / w.stride + 1;
}

Extents SizesOf(const std::vector<Extent>& extents) {
  Extents sizes;
  for (const Extent& extent : extents) sizes.push_back(extent.size);
  return sizes;
}

double FlopOf(const Network& net, const Node& node) {
  // Elements of the result, each a sum of so many products.
  const auto sums = [&](int64_t terms) {
    return 2.0 * static_cast<double>(terms * Product(node.shape));
  };
  const auto weight = [&](size_t axis) {
    return net.weights()[node.weights[0]].shape[axis];
  };
  return std::visit(
      Overloaded{[&](const layer::Conv& conv) {
                   const int64_t taps = conv.window.kernel * conv.window.kernel;
                   return sums(weight(1) * taps);
                 },
                 [&](const layer::ConvTranspose&) { return sums(weight(0)); },
                 [&](const layer::Dense&) { return sums(weight(1)); },
                 [&](const layer::Attention&) {
                   return 2 * sums(net.nodes()[node.inputs[1]].shape[2]);
                 },
                 [](const auto&) { return 0.0; }},
      node.layer);
}

}  // namespace

Value Network::Append(std::string name, Layer layer, std::vector<Value> inputs,
                      std::vector<int> weights, Extents shape) {
  std::vector<int> ids;
  for (const Value& x : inputs) {
    KILN_CHECK(x.id >= 0 && x.id < static_cast<int>(nodes_.size())) << name;
    ids.push_back(x.id);
  }
  nodes_.push_back({std::move(name), std::move(layer), std::move(ids),
                    std::move(weights), std::move(shape)});
  return {static_cast<int>(nodes_.size()) - 1};
}

int Network::Draw(const std::string& name, Extents shape, double low,
                  double high) {
  for (const Weight& other : weights_) KILN_CHECK(other.name != name) << name;
  weights_.push_back({name, std::move(shape), low, high});
  return static_cast<int>(weights_.size()) - 1;
}

int Network::DrawScaled(const std::string& name, Extents shape, int64_t terms,
                        double gain) {
  const double reach = std::sqrt(3 * gain / static_cast<double>(terms));
  return Draw(name, std::move(shape), -reach, reach);
}

int Network::WeightCalled(const std::string& name) const {
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].name == name) return static_cast<int>(i);
  }
  KILN_CHECK(false) << "no weight is called " << name;
  return -1;
}

// --- Inputs.

Value Network::Floats(std::string name, std::vector<Extent> extents) {
  Extents shape = SizesOf(extents);
  return Append(name,
                layer::Input{name, std::move(extents), DType::Float(32), -1, 1},
                {}, {}, std::move(shape));
}

Value Network::Ids(std::string name, std::vector<Extent> extents,
                   int64_t count) {
  Extents shape = SizesOf(extents);
  const layer::Input input{name, std::move(extents), DType::Int(64), 0,
                           static_cast<double>(count - 1)};
  return Append(name, input, {}, {}, std::move(shape));
}

// --- Images.

Value Network::Conv(Value x, const std::string& name, int64_t out, Window w,
                    double gain, bool has_bias) {
  const Extents& in = shape(x);
  const int64_t channels = in[1] / w.groups;
  KILN_CHECK(channels * w.groups == in[1] && out % w.groups == 0) << name;
  const Extents result = {in[0], out, Slid(in[2], w), Slid(in[3], w)};
  std::vector<int> weights = {DrawScaled(name + "_weight",
                                         {out, channels, w.kernel, w.kernel},
                                         channels * w.kernel * w.kernel, gain)};
  if (has_bias) weights.push_back(Draw(name + "_bias", {out}, -kBias, kBias));
  return Append(name, layer::Conv{w}, {x}, weights, result);
}

Value Network::ConvTranspose(Value x, const std::string& name, int64_t out,
                             int64_t stride) {
  const Extents& in = shape(x);
  const Extents result = {in[0], out, in[2] * stride, in[3] * stride};
  const int weight =
      DrawScaled(name + "_weight", {in[1], out, stride, stride}, in[1], 2);
  const int bias = Draw(name + "_bias", {out}, -kBias, kBias);
  return Append(name, layer::ConvTranspose{stride}, {x}, {weight, bias},
                result);
}

Value Network::BatchNorm(Value x, const std::string& name, double gain) {
  const Extents channels = {shape(x)[1]};
  const std::vector<int> weights = {
      Draw(name + "_gamma", channels, 0.8 * gain, 1.2 * gain),
      Draw(name + "_beta", channels, -kBias, kBias),
      Draw(name + "_mean", channels, -kBias, kBias),
      Draw(name + "_variance", channels, 0.8, 1.2)};
  return Append(name, layer::BatchNorm{kBatchNormEpsilon}, {x}, weights,
                shape(x));
}

Value Network::Apply(Activation activation, Value x) {
  return Append("activation", layer::Elementwise{activation}, {x}, {},
                shape(x));
}

Value Network::Add(Value a, Value b) {
  KILN_CHECK(shape(a) == shape(b));
  return Append("add", layer::Add{}, {a, b}, {}, shape(a));
}

Value Network::MaxPool(Value x, Window w) {
  const Extents& in = shape(x);
  return Append("max_pool", layer::MaxPool{w}, {x}, {},
                {in[0], in[1], Slid(in[2], w), Slid(in[3], w)});
}

Value Network::GlobalAvgPool(Value x) {
  const Extents& in = shape(x);
  return Append("global_avg_pool", layer::GlobalAvgPool{}, {x}, {},
                {in[0], in[1]});
}

Value Network::Resize(Value x, int64_t factor) {
  const Extents& in = shape(x);
  return Append("resize", layer::Resize{factor}, {x}, {},
                {in[0], in[1], in[2] * factor, in[3] * factor});
}

// --- Rows.

Value Network::Dense(Value x, const std::string& name, int64_t out,
                     double gain) {
  Extents result = shape(x);
  const int64_t in = std::exchange(result.back(), out);
  const int weight = DrawScaled(name + "_weight", {out, in}, in, gain);
  const int bias = Draw(name + "_bias", {out}, -kBias, kBias);
  return Append(name, layer::Dense{}, {x}, {weight, bias}, result);
}

Value Network::DenseBy(Value x, const std::string& table) {
  const int weight = WeightCalled(table);
  Extents result = shape(x);
  KILN_CHECK(result.back() == weights_[weight].shape[1]) << table;
  result.back() = weights_[weight].shape[0];
  return Append(table + "_dense", layer::Dense{}, {x}, {weight}, result);
}

Value Network::LayerNorm(Value x, const std::string& name, double epsilon) {
  const Extents width = {shape(x).back()};
  const std::vector<int> weights = {Draw(name + "_gamma", width, 0.8, 1.2),
                                    Draw(name + "_beta", width, -kBias, kBias)};
  return Append(name, layer::LayerNorm{epsilon}, {x}, weights, shape(x));
}

// Rows are as long as those of a trained network, whose product with a row of
// the hidden size is about as large as its elements.
Value Network::Embedding(Value ids, const std::string& table, int64_t rows,
                         int64_t width) {
  Extents result = shape(ids);
  result.push_back(width);
  const int weight = DrawScaled(table, {rows, width}, width, 1);
  return Append(table, layer::Embedding{}, {ids}, {weight}, result);
}

Value Network::AddPositions(Value x, const std::string& table, int64_t rows) {
  const Extents& in = shape(x);
  KILN_CHECK(in.size() == 3 && in[1] <= rows) << table;
  const int weight = DrawScaled(table, {rows, in[2]}, in[2], 1);
  return Append(table, layer::AddPositions{}, {x}, {weight}, in);
}

Value Network::AddRow(Value x, const std::string& name) {
  const int64_t width = shape(x).back();
  const int weight = DrawScaled(name, {width}, width, 1);
  return Append(name, layer::AddRow{}, {x}, {weight}, shape(x));
}

// --- Attention.

Value Network::Part(Value x, int64_t parts, int64_t index) {
  Extents result = shape(x);
  KILN_CHECK(result.back() % parts == 0 && index < parts);
  result.back() /= parts;
  return Append("part", layer::Part{parts, index}, {x}, {}, result);
}

Value Network::SplitHeads(Value x, int64_t heads) {
  const Extents& in = shape(x);
  KILN_CHECK(in.size() == 3 && in[2] % heads == 0);
  return Append("heads", layer::SplitHeads{heads}, {x}, {},
                {in[0], heads, in[1], in[2] / heads});
}

Value Network::Attention(Value q, Value k, Value v) {
  const Extents& of_q = shape(q);
  KILN_CHECK(of_q.size() == 4 && shape(k) == shape(v));
  return Append("attention", layer::Attention{}, {q, k, v}, {},
                {of_q[0], of_q[2], of_q[1] * of_q[3]});
}

Value Network::Concat(std::vector<Value> values, int axis) {
  Extents result = shape(values[0]);
  result[axis] = 0;
  for (const Value& x : values) result[axis] += shape(x)[axis];
  return Append("concat", layer::Concat{axis}, std::move(values), {}, result);
}

// --- The whole.

double Network::Flop() const {
  double flop = 0;
  for (const Node& node : nodes_) flop += FlopOf(*this, node);
  return flop;
}

int64_t Network::NumParameters() const {
  int64_t count = 0;
  for (const Weight& weight : weights_) count += Product(weight.shape);
  return count;
}

}  // namespace kiln::models
