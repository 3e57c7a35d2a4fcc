// A network as a list of layers, from which every back end makes its own form:
// graph functions (graph_module.h), a program of oneDNN's primitives
// (onednn_program.h).
//
//   Network net("classifier");
//   Value x = net.Floats("image", {{4, "n"}, 3, 32, 32});
//   x = net.BatchNorm(net.Conv(x, "conv", 16, {.kernel = 3, .pad = 1}), "bn");
//   net.Output(net.Dense(net.GlobalAvgPool(net.Relu(x)), "fc", 10));
//
// Images have the channels second, tokens are rows of (batch, tokens, width).
// Extents are numbers; those of inputs may have a name, under which a graph
// function may leave them open. Weights are ranges to draw from (weights.h).
//
// Networks are written by programs, so layers that do not fit each other are
// checked, not reported.
#ifndef KILN_EXAMPLES_MODELS_NETWORK_H_
#define KILN_EXAMPLES_MODELS_NETWORK_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kiln/ir/type/dtype.h"

namespace kiln::models {

using Extents = std::vector<int64_t>;

// What a layer gives: its place in the list of layers.
struct Value {
  int id = -1;
};

struct Extent {
  Extent(int64_t size) : size(size) {}  // NOLINT
  Extent(int64_t size, std::string name) : size(size), name(std::move(name)) {}
  int64_t size;
  std::string name;  // empty: always this size
};

// A window over images, square and the same at all sides.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0, groups = 1;
};

enum class Activation { kRelu, kRelu6, kGelu, kGeluTanh };

// A constant tensor of float32, uniform in [low, high).
struct Weight {
  std::string name;  // an identifier
  Extents shape;
  double low = 0, high = 0;
};

// Layers, with the operands and weights that each has, in order.
namespace layer {

// Floats uniform in [low, high), or integers in [low, high].
struct Input {
  std::string name;
  std::vector<Extent> extents;
  DType dtype;
  double low, high;
};
// (out, in / groups, kernel, kernel), and a bias where there are two.
struct Conv {
  Window window;
};
// The kernel is as large as the stride: (in, out, stride, stride), bias (out).
struct ConvTranspose {
  int64_t stride;
};
// Of channels, by known moments: gamma, beta, mean, variance.
struct BatchNorm {
  double epsilon;
};
struct Elementwise {
  Activation activation;
};
struct Add {};
struct MaxPool {
  Window window;
};
struct GlobalAvgPool {};  // (n, c, h, w) to (n, c)
struct Resize {           // to the nearest pixel, `factor` times as large
  int64_t factor;
};
// x times the transposed weight (out, in) over the last axis, plus a bias where
// there are two weights.
struct Dense {};
// Over the last axis: gamma, beta.
struct LayerNorm {
  double epsilon;
};
struct Embedding {};     // rows of the weight (rows, width) by ids
struct AddPositions {};  // x (n, t, d) plus the first t rows of the weight
struct AddRow {};        // x plus the weight (d)
struct Part {            // one of as many equal parts of the last axis
  int64_t parts, index;
};
struct SplitHeads {  // (n, t, h * e) to (n, h, t, e)
  int64_t heads;
};
// Of queries, keys and values (n, h, ., e): softmax(q k' / sqrt(e)) v, with the
// heads side by side: (n, t, h * e).
struct Attention {};
struct Concat {
  int axis;
};

}  // namespace layer

using Layer = std::variant<layer::Input, layer::Conv, layer::ConvTranspose,
                           layer::BatchNorm, layer::Elementwise, layer::Add,
                           layer::MaxPool, layer::GlobalAvgPool, layer::Resize,
                           layer::Dense, layer::LayerNorm, layer::Embedding,
                           layer::AddPositions, layer::AddRow, layer::Part,
                           layer::SplitHeads, layer::Attention, layer::Concat>;

struct Node {
  std::string name;  // for messages
  Layer layer;
  std::vector<int> inputs;   // nodes ahead of it
  std::vector<int> weights;  // of the network
  Extents shape;             // of what it gives
};

// For a visitor of layers: std::visit(Overloaded{...}, node.layer).
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

class Network {
 public:
  explicit Network(std::string name) : name_(std::move(name)) {}

  // Uniform in [-1, 1).
  Value Floats(std::string name, std::vector<Extent> extents);
  // Integers in [0, count).
  Value Ids(std::string name, std::vector<Extent> extents, int64_t count);

  // `gain` is the ratio of the mean squares of result and operand: 2 behind an
  // activation that drops half of them, and for the rest 1.
  Value Conv(Value x, const std::string& name, int64_t out, Window window,
             double gain = 2, bool has_bias = false);
  Value ConvTranspose(Value x, const std::string& name, int64_t out,
                      int64_t stride);
  // Scales by about `gain`.
  Value BatchNorm(Value x, const std::string& name, double gain = 1);
  Value Apply(Activation activation, Value x);
  Value Relu(Value x) { return Apply(Activation::kRelu, x); }
  Value Relu6(Value x) { return Apply(Activation::kRelu6, x); }
  Value Add(Value a, Value b);
  Value MaxPool(Value x, Window window);
  Value GlobalAvgPool(Value x);
  Value Resize(Value x, int64_t factor);
  Value Dense(Value x, const std::string& name, int64_t out, double gain = 1);
  Value LayerNorm(Value x, const std::string& name, double epsilon);
  // The table gets a name of its own, for DenseBy and other layers.
  Value Embedding(Value ids, const std::string& table, int64_t rows,
                  int64_t width);
  // The product with the rows of a table that the network has.
  Value DenseBy(Value x, const std::string& table);
  Value AddPositions(Value x, const std::string& table, int64_t rows);
  Value AddRow(Value x, const std::string& name);
  Value Part(Value x, int64_t parts, int64_t index);
  Value SplitHeads(Value x, int64_t heads);
  Value Attention(Value q, Value k, Value v);
  Value Concat(std::vector<Value> values, int axis);
  // A value that the network gives; several are a tuple, in order.
  void Output(Value x) { outputs_.push_back(x.id); }

  const std::string& name() const { return name_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::vector<int>& outputs() const { return outputs_; }
  const Extents& shape(Value x) const { return nodes_[x.id].shape; }

  // Floating-point operations of convolutions and products, two for each
  // multiply-add; what else there is, is left out.
  double Flop() const;
  int64_t NumParameters() const;

 private:
  Value Append(std::string name, Layer layer, std::vector<Value> inputs,
               std::vector<int> weights, Extents shape);
  // Weights of this name, which is new.
  int Draw(const std::string& name, Extents shape, double low, double high);
  // Around 0, for sums of `terms` products.
  int DrawScaled(const std::string& name, Extents shape, int64_t terms,
                 double gain);
  int WeightCalled(const std::string& name) const;

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Weight> weights_;
  std::vector<int> outputs_;
};

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_NETWORK_H_
