// One call of an op, or a few, for each layer:
//
//   layer::BatchNorm    bn = R.nn.batch_norm(x, gamma, beta, mean, variance,
//                                            axis=1, training=False)
//                       y = bn[0]
//   layer::Dense        t = R.permute_dims(w)
//                       y = R.add(R.matmul(x, t), b)
//
// Extents that ops are told are taken from what inference knows of a value, so
// they are symbolic where those of the inputs are.
#include "kiln/examples/models/graph_module.h"

#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::models {
namespace {

using graph::CallOp;
using GraphExpr = graph::Expr;
using Scalars = std::vector<Expr>;

const DType kF32 = DType::Float(32);

Attr Ints(const std::vector<int64_t>& values) {
  AttrList list;
  for (const int64_t value : values) list.push_back(Attr(Int(value)));
  return list;
}

Attr Same(int64_t value) { return Ints({value, value}); }

GraphExpr Permuted(const GraphExpr& x, const std::vector<int64_t>& axes) {
  return CallOp("permute_dims", {x}, {{"axes", Ints(axes)}});
}

GraphExpr Reshaped(const GraphExpr& x, Scalars shape) {
  return CallOp("reshape", {x, graph::ShapeOf(std::move(shape))});
}

GraphExpr Places(const std::vector<Expr>& places) {
  std::vector<GraphExpr> fields;
  for (const Expr& place : places) fields.push_back(graph::Number(place));
  return graph::TupleOf(std::move(fields));
}

absl::StatusOr<GraphExpr> ConstantOf(const NDArray& array) {
  const std::string_view bytes(array.data_as<char>(), array.bytes());
  KILN_ASSIGN_OR_RETURN(Blob data, Blob::Copy(bytes));
  const Extents shape(array.shape().begin(), array.shape().end());
  return GraphExpr(
      new graph::ConstantNode(array.dtype(), shape, std::move(data)));
}

const char* OpOf(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return "nn.relu";
    case Activation::kRelu6:
      return "nn.relu6";
    case Activation::kGelu:
      return "nn.gelu";
    case Activation::kGeluTanh:
      return "nn.gelu_tanh";
  }
}

class Emitter {
 public:
  Emitter(const Network& net, Weights& weights, const ModuleOptions& options)
      : net_(net), weights_(weights), options_(options) {}

  absl::StatusOr<Module> Run();

 private:
  // The operands of a layer.
  struct Operands {
    const Node& node;
    std::vector<graph::Var> x;
    std::vector<GraphExpr> w;
  };

  absl::Status CheckOpen() const;
  absl::Status MakeParams();
  absl::Status EmitNodes();
  GraphExpr Result();
  Expr ExtentOf(const Extent& extent);
  const Scalars& Shape(const graph::Var& x);
  graph::Var Emit(GraphExpr value) { return builder_.Emit(std::move(value)); }

  GraphExpr Make(const layer::Input& l, const Operands& on);
  GraphExpr Make(const layer::Conv& l, const Operands& on);
  GraphExpr Make(const layer::ConvTranspose& l, const Operands& on);
  GraphExpr Make(const layer::BatchNorm& l, const Operands& on);
  GraphExpr Make(const layer::Elementwise& l, const Operands& on);
  GraphExpr Make(const layer::Add& l, const Operands& on);
  GraphExpr Make(const layer::MaxPool& l, const Operands& on);
  GraphExpr Make(const layer::GlobalAvgPool& l, const Operands& on);
  GraphExpr Make(const layer::Resize& l, const Operands& on);
  GraphExpr Make(const layer::Dense& l, const Operands& on);
  GraphExpr Make(const layer::LayerNorm& l, const Operands& on);
  GraphExpr Make(const layer::Embedding& l, const Operands& on);
  GraphExpr Make(const layer::AddPositions& l, const Operands& on);
  GraphExpr Make(const layer::AddRow& l, const Operands& on);
  GraphExpr Make(const layer::Part& l, const Operands& on);
  GraphExpr Make(const layer::SplitHeads& l, const Operands& on);
  GraphExpr Make(const layer::Attention& l, const Operands& on);
  GraphExpr Make(const layer::Concat& l, const Operands& on);
  GraphExpr WithChannelBias(const GraphExpr& y, const Operands& on);
  GraphExpr AttentionOf(const Operands& on);
  GraphExpr ProductsOf(const Operands& on);

  const Network& net_;
  Weights& weights_;
  const ModuleOptions& options_;
  graph::BlockBuilder builder_;
  std::map<std::string, Var> open_;   // extents
  std::vector<graph::Var> inputs_;    // in order
  std::vector<GraphExpr> constants_;  // of each weight: that, or a parameter
  std::vector<graph::Var> values_;    // of each node
  std::map<int, graph::Var> splits_;  // of a node, into parts
};

// --- Inputs and weights.

absl::Status Emitter::CheckOpen() const {
  std::set<std::string> known;
  for (const Node& node : net_.nodes()) {
    const auto* input = std::get_if<layer::Input>(&node.layer);
    if (!input) continue;
    for (const Extent& extent : input->extents) known.insert(extent.name);
  }
  for (const std::string& name : options_.open) {
    if (known.count(name) && !name.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        net_.name(), " has no extent called \"", name, "\" to leave open"));
  }
  return absl::OkStatus();
}

Expr Emitter::ExtentOf(const Extent& extent) {
  if (!options_.open.count(extent.name)) return Int(extent.size);
  const auto found = open_.find(extent.name);
  if (found != open_.end()) return found->second;
  return open_.emplace(extent.name, Var(extent.name)).first->second;
}

absl::Status Emitter::MakeParams() {
  for (const Node& node : net_.nodes()) {
    const auto* input = std::get_if<layer::Input>(&node.layer);
    if (!input) continue;
    Scalars shape;
    for (const Extent& extent : input->extents) {
      shape.push_back(ExtentOf(extent));
    }
    inputs_.emplace_back(input->name, graph::Tensor(shape, input->dtype));
  }
  for (const Weight& weight : net_.weights()) {
    if (options_.weights_are_params) {
      Scalars shape;
      for (const int64_t extent : weight.shape) shape.push_back(Int(extent));
      constants_.push_back(graph::Var(weight.name, graph::Tensor(shape, kF32)));
    } else {
      KILN_ASSIGN_OR_RETURN(const NDArray drawn, weights_.Get(weight));
      KILN_ASSIGN_OR_RETURN(constants_.emplace_back(), ConstantOf(drawn));
    }
  }
  return absl::OkStatus();
}

// --- Images.

GraphExpr Emitter::Make(const layer::Input&, const Operands& on) {
  for (const graph::Var& input : inputs_) {
    if (input->name == on.node.name) return input;
  }
  return GraphExpr();
}

GraphExpr Emitter::WithChannelBias(const GraphExpr& y, const Operands& on) {
  if (on.w.size() < 2) return y;
  const Expr channels = Int(on.node.shape[1]);
  return CallOp("add",
                {y, Reshaped(on.w[1], {Int(1), channels, Int(1), Int(1)})});
}

GraphExpr Emitter::Make(const layer::Conv& l, const Operands& on) {
  const Window& w = l.window;
  return WithChannelBias(CallOp("nn.conv2d", {on.x[0], on.w[0]},
                                {{"strides", Same(w.stride)},
                                 {"padding", Same(w.pad)},
                                 {"groups", Attr(Int(w.groups))}}),
                         on);
}

GraphExpr Emitter::Make(const layer::ConvTranspose& l, const Operands& on) {
  return WithChannelBias(CallOp("nn.conv2d_transpose", {on.x[0], on.w[0]},
                                {{"strides", Same(l.stride)}}),
                         on);
}

GraphExpr Emitter::Make(const layer::BatchNorm& l, const Operands& on) {
  const graph::Var normed = Emit(
      CallOp("nn.batch_norm", {on.x[0], on.w[0], on.w[1], on.w[2], on.w[3]},
             {{"axis", Attr(Int(1))},
              {"epsilon", Attr(Float(l.epsilon))},
              {"training", Attr(Bool(false))}}));
  return graph::Item(normed, 0);
}

GraphExpr Emitter::Make(const layer::Elementwise& l, const Operands& on) {
  return CallOp(OpOf(l.activation), {on.x[0]});
}

GraphExpr Emitter::Make(const layer::Add&, const Operands& on) {
  return CallOp("add", {on.x[0], on.x[1]});
}

GraphExpr Emitter::Make(const layer::MaxPool& l, const Operands& on) {
  return CallOp("nn.max_pool2d", {on.x[0]},
                {{"pool_size", Same(l.window.kernel)},
                 {"strides", Same(l.window.stride)},
                 {"padding", Same(l.window.pad)}});
}

GraphExpr Emitter::Make(const layer::GlobalAvgPool&, const Operands& on) {
  const graph::Var pooled = Emit(
      CallOp("nn.adaptive_avg_pool2d", {on.x[0]}, {{"output_size", Same(1)}}));
  const Scalars& shape = Shape(on.x[0]);
  return Reshaped(pooled, {shape[0], shape[1]});
}

GraphExpr Emitter::Make(const layer::Resize&, const Operands& on) {
  const Scalars size = {Int(on.node.shape[2]), Int(on.node.shape[3])};
  return CallOp(
      "image.resize2d", {on.x[0], graph::ShapeOf(size)},
      {{"method", Attr(std::string("nearest_neighbor"))},
       {"coordinate_transformation_mode", Attr(std::string("asymmetric"))},
       {"rounding_method", Attr(std::string("floor"))}});
}

// --- Rows.

GraphExpr Emitter::Make(const layer::Dense&, const Operands& on) {
  const GraphExpr product =
      CallOp("matmul", {on.x[0], CallOp("permute_dims", {on.w[0]})});
  return on.w.size() < 2 ? product : CallOp("add", {product, on.w[1]});
}

GraphExpr Emitter::Make(const layer::LayerNorm& l, const Operands& on) {
  return CallOp("nn.layer_norm", {on.x[0], on.w[0], on.w[1]},
                {{"axes", Ints({-1})}, {"epsilon", Attr(Float(l.epsilon))}});
}

GraphExpr Emitter::Make(const layer::Embedding&, const Operands& on) {
  return CallOp("take", {on.w[0], on.x[0]}, {{"axis", Attr(Int(0))}});
}

// More tokens than there are positions are refused when the program runs.
GraphExpr Emitter::Make(const layer::AddPositions&, const Operands& on) {
  const Expr tokens = Shape(on.x[0])[1];
  const graph::Var rows =
      Emit(CallOp("strided_slice", {on.w[0], Places({Int(0)}), Places({Int(0)}),
                                    Places({tokens})}));
  if (AsInt(tokens)) return CallOp("add", {on.x[0], rows});
  const graph::StructInfo info =
      graph::Tensor({tokens, Int(on.node.shape[2])}, kF32);
  return CallOp("add", {on.x[0], builder_.MatchCast(rows, info)});
}

GraphExpr Emitter::Make(const layer::AddRow&, const Operands& on) {
  return CallOp("add", {on.x[0], on.w[0]});
}

GraphExpr Emitter::Make(const layer::Part& l, const Operands& on) {
  const int whole = on.node.inputs[0];
  if (!splits_.count(whole)) {
    splits_[whole] = Emit(CallOp("split", {on.x[0]},
                                 {{"indices_or_sections", Attr(Int(l.parts))},
                                  {"axis", Attr(Int(-1))}}));
  }
  return graph::Item(splits_[whole], static_cast<int>(l.index));
}

// --- Attention.

GraphExpr Emitter::Make(const layer::SplitHeads& l, const Operands& on) {
  const Scalars& shape = Shape(on.x[0]);
  const Expr size = Int(on.node.shape[3]);
  return Permuted(Reshaped(on.x[0], {shape[0], shape[1], Int(l.heads), size}),
                  {0, 2, 1, 3});
}

GraphExpr Emitter::AttentionOf(const Operands& on) {
  const auto rows = [&](int i) { return Permuted(on.x[i], {0, 2, 1, 3}); };
  return CallOp("nn.attention", {rows(0), rows(1), rows(2)});
}

GraphExpr Emitter::ProductsOf(const Operands& on) {
  const double size = static_cast<double>(net_.shape({on.node.inputs[0]})[3]);
  const GraphExpr scale =
      *graph::MakeConstant(kF32, {}, {Constant(1 / std::sqrt(size), kF32)});
  const GraphExpr scores = CallOp(
      "multiply",
      {CallOp("matmul", {on.x[0], Permuted(on.x[1], {0, 1, 3, 2})}), scale});
  const GraphExpr shares =
      CallOp("nn.softmax", {scores}, {{"axis", Attr(Int(-1))}});
  return Permuted(CallOp("matmul", {shares, on.x[2]}), {0, 2, 1, 3});
}

GraphExpr Emitter::Make(const layer::Attention&, const Operands& on) {
  const bool is_op = options_.attention == AttentionForm::kOp;
  const GraphExpr answers = is_op ? AttentionOf(on) : ProductsOf(on);
  const Scalars& shape = Shape(on.x[0]);
  return Reshaped(answers, {shape[0], shape[2], Int(on.node.shape[2])});
}

GraphExpr Emitter::Make(const layer::Concat& l, const Operands& on) {
  const std::vector<GraphExpr> fields(on.x.begin(), on.x.end());
  return CallOp("concat", {graph::TupleOf(fields)},
                {{"axis", Attr(Int(l.axis))}});
}

// --- The whole.

// Of a value whose extents inference does not know, which fails in Finish.
const Scalars& Emitter::Shape(const graph::Var& x) {
  static const Scalars* const kUnknown = new Scalars(4, Int(1));
  const auto* info = x->info.As<graph::TensorInfo>();
  return info && info->extents() ? *info->extents() : *kUnknown;
}

absl::Status Emitter::EmitNodes() {
  for (const Node& node : net_.nodes()) {
    Operands on{node, {}, {}};
    for (const int input : node.inputs) on.x.push_back(values_[input]);
    for (const int weight : node.weights) on.w.push_back(constants_[weight]);
    const GraphExpr value = std::visit(
        [&](const auto& layer) { return Make(layer, on); }, node.layer);
    const bool is_input = std::holds_alternative<layer::Input>(node.layer);
    values_.push_back(is_input ? graph::Var(value.As<graph::VarNode>())
                               : Emit(value));
    KILN_RETURN_IF_ERROR(builder_.status());
  }
  return absl::OkStatus();
}

GraphExpr Emitter::Result() {
  std::vector<GraphExpr> results;
  for (const int output : net_.outputs()) {
    results.push_back(builder_.EmitOutput(values_[output]));
  }
  return results.size() == 1 ? results[0] : graph::TupleOf(results);
}

absl::StatusOr<Module> Emitter::Run() {
  KILN_RETURN_IF_ERROR(CheckOpen());
  KILN_RETURN_IF_ERROR(MakeParams());
  std::vector<graph::Var> params = inputs_;
  if (options_.weights_are_params) {
    for (const GraphExpr& weight : constants_) {
      params.emplace_back(weight.As<graph::VarNode>());
    }
  }
  const auto main = builder_.BeginFunction("main", params);
  auto dataflow = builder_.BeginDataflow();
  KILN_RETURN_IF_ERROR(EmitNodes());
  const GraphExpr result = Result();
  dataflow.End();
  builder_.EmitFuncOutput(result);
  return builder_.Finish();
}

}  // namespace

absl::StatusOr<Module> ToModule(const Network& net, Weights& weights,
                                const ModuleOptions& options) {
  return Emitter(net, weights, options).Run();
}

}  // namespace kiln::models
