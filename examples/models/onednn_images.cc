// Layers over images. A batch norm becomes part of the convolution ahead of it:
//
//   s = gamma / sqrt(variance + epsilon)
//   weight[o, ...] * s[o],   bias[o] = (bias[o] - mean[o]) * s[o] + beta[o]
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/examples/models/onednn_planner.h"

namespace kiln::models {
namespace {

using Memory = dnnl::memory;
using Tag = Memory::format_tag;
constexpr auto kF32 = Memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

Memory::desc Any(const Extents& shape) { return {shape, kF32, Tag::any}; }

// With the groups as a dimension of their own.
Extents GroupedShape(const Extents& weight, int64_t groups) {
  if (groups == 1) return weight;
  Extents grouped = {groups};
  grouped.insert(grouped.end(), weight.begin(), weight.end());
  grouped[1] /= groups;
  return grouped;
}

}  // namespace

// --- Convolutions.

absl::StatusOr<std::vector<float>> OneDnnPlanner::ScalesOf(const Group& group) {
  const Node& norm = node(group.batch_norm);
  const double epsilon = std::get<layer::BatchNorm>(norm.layer).epsilon;
  KILN_ASSIGN_OR_RETURN(const NDArray gamma, WeightOf(norm, 0));
  KILN_ASSIGN_OR_RETURN(const NDArray variance, WeightOf(norm, 3));
  std::vector<float> scales;
  for (int64_t i = 0; i < gamma.num_elements(); ++i) {
    const double spread = std::sqrt(variance.elements<float>()[i] + epsilon);
    scales.push_back(static_cast<float>(gamma.elements<float>()[i] / spread));
  }
  return scales;
}

absl::StatusOr<NDArray> OneDnnPlanner::FoldedWeight(const Group& group) {
  KILN_ASSIGN_OR_RETURN(const NDArray weight, WeightOf(Anchor(group), 0));
  if (group.batch_norm < 0) return weight;
  KILN_ASSIGN_OR_RETURN(const std::vector<float> scales, ScalesOf(group));
  KILN_ASSIGN_OR_RETURN(NDArray folded, weight.Clone());
  const int64_t per_output = folded.num_elements() / folded.shape()[0];
  for (int64_t i = 0; i < folded.num_elements(); ++i) {
    folded.elements<float>()[i] *= scales[i / per_output];
  }
  return folded;
}

absl::StatusOr<NDArray> OneDnnPlanner::FoldedBias(const Group& group) {
  const Node& conv = Anchor(group);
  KILN_ASSIGN_OR_RETURN(
      NDArray bias,
      NDArray::Zeros({node(group.result).shape[1]}, DType::Float(32)));
  if (conv.weights.size() > 1) {
    KILN_ASSIGN_OR_RETURN(const NDArray own, WeightOf(conv, 1));
    KILN_RETURN_IF_ERROR(bias.CopyFrom(own));
  }
  if (group.batch_norm < 0) return bias;
  const Node& norm = node(group.batch_norm);
  KILN_ASSIGN_OR_RETURN(const std::vector<float> scales, ScalesOf(group));
  KILN_ASSIGN_OR_RETURN(const NDArray beta, WeightOf(norm, 1));
  KILN_ASSIGN_OR_RETURN(const NDArray mean, WeightOf(norm, 2));
  for (int64_t i = 0; i < bias.num_elements(); ++i) {
    float& own = bias.elements<float>()[i];
    own = (own - mean.elements<float>()[i]) * scales[i] +
          beta.elements<float>()[i];
  }
  return bias;
}

absl::Status OneDnnPlanner::Plan(const layer::Conv& l, const Group& group) {
  const Window& w = l.window;
  KILN_ASSIGN_OR_RETURN(const NDArray weight, FoldedWeight(group));
  KILN_ASSIGN_OR_RETURN(const NDArray bias, FoldedBias(group));
  const Extents shape = GroupedShape(
      Extents(weight.shape().begin(), weight.shape().end()), w.groups);
  const int source = Anchor(group).inputs[0];
  const dnnl::convolution_forward::primitive_desc chosen(
      dnnl::convolution_forward::desc(
          kInference, dnnl::algorithm::convolution_direct,
          Any(node(source).shape), Any(shape), Dense({bias.num_elements()}),
          Any(Anchor(group).shape), {w.stride, w.stride}, {w.pad, w.pad},
          {w.pad, w.pad}),
      AttributesOf(group), engine_);
  const Flow x = In(flows_[source], chosen.src_desc());
  const Flow y = Target(group, chosen.dst_desc());
  const Memory::desc channels = Dense({bias.num_elements()});
  Add(NameOf(group), chosen, dnnl::convolution_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)},
       {DNNL_ARG_WEIGHTS,
        Constant(weight, Dense(shape), chosen.weights_desc())},
       {DNNL_ARG_BIAS, Constant(bias, channels, channels)},
       {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::ConvTranspose& l,
                                 const Group& group) {
  KILN_ASSIGN_OR_RETURN(const NDArray weight, WeightOf(Anchor(group), 0));
  KILN_ASSIGN_OR_RETURN(const NDArray bias, WeightOf(Anchor(group), 1));
  const int64_t in = weight.shape()[0], out = weight.shape()[1], s = l.stride;
  const Memory::desc plain =
      Strided({out, in, s, s}, {s * s, out * s * s, s, 1});
  const int source = Anchor(group).inputs[0];
  const dnnl::deconvolution_forward::primitive_desc chosen(
      dnnl::deconvolution_forward::desc(
          kInference, dnnl::algorithm::deconvolution_direct,
          Any(node(source).shape), Any({out, in, s, s}), Dense({out}),
          Any(Anchor(group).shape), {s, s}, {0, 0}, {0, 0}),
      AttributesOf(group), engine_);
  const Flow x = In(flows_[source], chosen.src_desc());
  const Flow y = Target(group, chosen.dst_desc());
  Add(NameOf(group), chosen, dnnl::deconvolution_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)},
       {DNNL_ARG_WEIGHTS, Constant(weight, plain, chosen.weights_desc())},
       {DNNL_ARG_BIAS, Constant(bias, Dense({out}), Dense({out}))},
       {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::BatchNorm&, const Group& group) {
  return absl::UnimplementedError(
      absl::StrCat(NameOf(group),
                   ": the batch norm does not follow a convolution whose "
                   "result is read by nothing else"));
}

// --- Pools.

absl::Status OneDnnPlanner::Plan(const layer::MaxPool& l, const Group& group) {
  const Window& w = l.window;
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const Extents& in = node(Anchor(group).inputs[0]).shape;
  const Extents& out = Anchor(group).shape;
  // What the last window leaves out at the end counts as less padding.
  const auto after = [&](size_t axis) {
    return (out[axis] - 1) * w.stride + w.kernel - in[axis] - w.pad;
  };
  const dnnl::pooling_forward::primitive_desc chosen(
      dnnl::pooling_forward::desc(kInference, dnnl::algorithm::pooling_max,
                                  x.desc, Any(out), {w.stride, w.stride},
                                  {w.kernel, w.kernel}, {w.pad, w.pad},
                                  {after(2), after(3)}),
      Attributes(), engine_);
  const Flow y = NewResult(group, chosen.dst_desc());
  Add(NameOf(group), chosen, dnnl::pooling_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)}, {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::GlobalAvgPool&,
                                 const Group& group) {
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const Extents& in = node(Anchor(group).inputs[0]).shape;
  const Extents pooled = {in[0], in[1], 1, 1};
  const dnnl::pooling_forward::primitive_desc chosen(
      dnnl::pooling_forward::desc(
          kInference, dnnl::algorithm::pooling_avg_include_padding, x.desc,
          Any(pooled), {in[2], in[3]}, {in[2], in[3]}, {0, 0}, {0, 0}),
      Attributes(), engine_);
  const Flow spread = NewTemporary(chosen.dst_desc());
  Add(NameOf(group), chosen, dnnl::pooling_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)}, {DNNL_ARG_DST, Bind(spread)}});
  Flow y = NewResult(group, Dense(Anchor(group).shape));
  Copy(spread, {Dense(pooled), y.data, y.buffer});
  flows_[group.result] = y;
  return absl::OkStatus();
}

// --- Moves.

absl::Status OneDnnPlanner::Plan(const layer::Resize& l, const Group& group) {
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const float factor = static_cast<float>(l.factor);
  const dnnl::resampling_forward::primitive_desc chosen(
      dnnl::resampling_forward::desc(kInference,
                                     dnnl::algorithm::resampling_nearest,
                                     {factor, factor}, x.desc),
      Attributes(), engine_);
  const Flow y = NewResult(group, chosen.dst_desc());
  Add(NameOf(group), chosen, dnnl::resampling_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)}, {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::Concat& l, const Group& group) {
  std::vector<Memory::desc> sources;
  Args args;
  for (const int input : Anchor(group).inputs) {
    const int arg = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(sources.size());
    args[arg] = Bind(flows_[input]);
    sources.push_back(flows_[input].desc);
  }
  // A value that the network gives lies as its caller wants it.
  const bool is_output =
      last_uses_[group.result] > static_cast<int>(groups_.size());
  const dnnl::concat::primitive_desc chosen =
      is_output
          ? dnnl::concat::primitive_desc(Dense(Anchor(group).shape), l.axis,
                                         sources, engine_, Attributes())
          : dnnl::concat::primitive_desc(l.axis, sources, engine_,
                                         Attributes());
  const Flow y = NewResult(group, chosen.dst_desc());
  args[DNNL_ARG_DST] = Bind(y);
  Add(NameOf(group), chosen, dnnl::concat(chosen), std::move(args));
  flows_[group.result] = y;
  return absl::OkStatus();
}

}  // namespace kiln::models
