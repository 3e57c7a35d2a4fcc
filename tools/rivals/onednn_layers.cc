// Layers of models (ir/te/layers.cc) as oneDNN has them: pooling, layer norm,
// and what is done to each element, with a second tensor or without. A layer
// gets a line in PlanLayer; RMS norm is none of oneDNN's.
//
//   gel:128,3072   binary add of the bias, then GELU as a post-op
#include "kiln/tools/rivals/onednn_plan.h"

namespace kiln::bench {
namespace {

using Memory = dnnl::memory;
using Tag = dnnl::memory::format_tag;
using dnnl::algorithm;
constexpr auto kF32 = Memory::data_type::f32;
constexpr float kEpsilon = 1e-5f;

Memory::desc Matrix(const OpCase& op) {
  return {{op.dims[0], op.dims[1]}, kF32, Tag::ab};
}

Memory::desc Row(const OpCase& op) { return {{1, op.dims[1]}, kF32, Tag::ab}; }

OneDnnPlan PlanPooling(const OpCase& op, algorithm kind,
                       const OneDnnContext& context) {
  const std::vector<int64_t>& d = op.dims;  // H, W, c, k, s, p
  const auto extent = [&](int64_t in) {
    return (in + 2 * d[5] - d[3]) / d[4] + 1;
  };
  const Memory::desc src({1, d[2], d[0], d[1]}, kF32, Tag::nhwc);
  const Memory::desc dst({1, d[2], extent(d[0]), extent(d[1])}, kF32,
                         Tag::nhwc);
  // What the last window leaves out at the end counts as less padding.
  const auto after = [&](int64_t in) {
    return (extent(in) - 1) * d[4] + d[3] - in - d[5];
  };
  const dnnl::pooling_forward::primitive_desc chosen(
      dnnl::pooling_forward::desc(dnnl::prop_kind::forward_inference, kind, src,
                                  dst, {d[4], d[4]}, {d[3], d[3]}, {d[5], d[5]},
                                  {after(d[0]), after(d[1])}),
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::pooling_forward(chosen);
  plan.args[DNNL_ARG_SRC] = context.Bind(src, op.input(0));
  plan.args[DNNL_ARG_DST] = context.Bind(dst, op.out());
  return plan;
}

OneDnnPlan PlanLayerNorm(const OpCase& op, const OneDnnContext& context) {
  using Flags = dnnl::normalization_flags;
  const Memory::desc vector({op.dims[1]}, kF32, Tag::a);
  const dnnl::layer_normalization_forward::primitive_desc chosen(
      dnnl::layer_normalization_forward::desc(
          dnnl::prop_kind::forward_inference, Matrix(op), kEpsilon,
          Flags::use_scale | Flags::use_shift),
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::layer_normalization_forward(chosen);
  plan.args[DNNL_ARG_SRC] = context.Bind(Matrix(op), op.input(0));
  plan.args[DNNL_ARG_SCALE] = context.Bind(vector, op.input(1));
  plan.args[DNNL_ARG_SHIFT] = context.Bind(vector, op.input(2));
  plan.args[DNNL_ARG_DST] = context.Bind(Matrix(op), op.out());
  return plan;
}

// One tensor with another, and `then` done to each element.
OneDnnPlan PlanBinary(const OpCase& op, algorithm kind,
                      const Memory::desc& second, const dnnl::post_ops& then,
                      const OneDnnContext& context) {
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(then);
  const dnnl::binary::primitive_desc chosen(
      dnnl::binary::desc(kind, Matrix(op), second, Matrix(op)), attributes,
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::binary(chosen);
  plan.args[DNNL_ARG_SRC_0] = context.Bind(Matrix(op), op.input(0));
  plan.args[DNNL_ARG_SRC_1] = context.Bind(second, op.input(1));
  plan.args[DNNL_ARG_DST] = context.Bind(Matrix(op), op.out());
  return plan;
}

dnnl::post_ops Then(algorithm kind) {
  dnnl::post_ops then;
  then.append_eltwise(1.0f, kind, 0.0f, 0.0f);
  return then;
}

OneDnnPlan PlanElementwise(const OpCase& op, algorithm kind, float alpha,
                           const OneDnnContext& context) {
  const dnnl::eltwise_forward::primitive_desc chosen(
      dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference, kind,
                                  Matrix(op), alpha, 0.0f),
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::eltwise_forward(chosen);
  plan.args[DNNL_ARG_SRC] = context.Bind(Matrix(op), op.input(0));
  plan.args[DNNL_ARG_DST] = context.Bind(Matrix(op), op.out());
  return plan;
}

}  // namespace

std::optional<OneDnnPlan> PlanLayer(const OpCase& op,
                                    const OneDnnContext& context) {
  const std::string& name = op.workload;
  if (name == "max") return PlanPooling(op, algorithm::pooling_max, context);
  if (name == "avg") {
    return PlanPooling(op, algorithm::pooling_avg_include_padding, context);
  }
  if (name == "lnm") return PlanLayerNorm(op, context);
  if (name == "gel") {
    return PlanBinary(op, algorithm::binary_add, Row(op),
                      Then(algorithm::eltwise_gelu_erf), context);
  }
  if (name == "add") {
    return PlanBinary(op, algorithm::binary_add, Matrix(op),
                      Then(algorithm::eltwise_relu), context);
  }
  if (name == "scl") {
    return PlanBinary(op, algorithm::binary_mul, Row(op), {}, context);
  }
  if (name == "hsw") {
    return PlanElementwise(op, algorithm::eltwise_hardswish, 0, context);
  }
  if (name == "swi") {
    return PlanElementwise(op, algorithm::eltwise_swish, 1, context);
  }
  return std::nullopt;
}

}  // namespace kiln::bench
