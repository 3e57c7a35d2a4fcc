// Convolutions of oneDNN: any rank, groups, dilation, transposed, with what
// follows on the result. Kiln's tensors have the channels last, oneDNN's
// dimensions have them second, so layouts are told by strides and nothing is
// copied:
//
//   image 56 x 56 x 64    dims {1, 64, 56, 56}   strides {200704, 1, 3584, 64}
//
// The padding behind is what the sizes leave: a stride of 2 over 56 with a
// kernel of 3 and padding 1 has (28 - 1) * 2 + 3 - 56 - 1 = 0. Weights are in
// the layout that oneDNN chooses; their copy is in the plan (onednn.cc).
#include "kiln/tools/rivals/onednn_plan.h"

namespace kiln::bench {
namespace {

using Memory = dnnl::memory;
using Dims = dnnl::memory::dims;
constexpr auto kF32 = Memory::data_type::f32;

// Images with the channels last: dimensions in oneDNN's order, which has the
// channels second.
Memory::desc Image(const std::vector<int64_t>& extents, int64_t channels) {
  Dims dims = {1, channels};
  dims.insert(dims.end(), extents.begin(), extents.end());
  Dims strides(dims.size(), 1);
  int64_t stride = channels;
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  strides[0] = stride;
  return Memory::desc(dims, kF32, strides);
}

// [groups,] out, in, taps; in memory: taps, in, out.
struct Weights {
  Dims dims, strides;
};

Weights WeightsOf(const ConvShape& c) {
  const int64_t in = c.ci / c.groups, out = c.co / c.groups;
  Weights w;
  if (c.groups > 1) {
    w.dims.push_back(c.groups);
    w.strides.push_back(out);
  }
  w.dims.insert(w.dims.end(), {out, in});
  w.strides.insert(w.strides.end(), {1, c.co});
  const size_t first = w.dims.size();
  int64_t stride = in * c.co;
  w.dims.resize(first + c.rank(), c.kernel);
  w.strides.resize(w.dims.size());
  for (size_t i = w.dims.size(); i-- > first;) {
    w.strides[i] = stride;
    stride *= c.kernel;
  }
  return w;
}

// ReLU of (the convolution + bias) * scale + offset.
struct Epilogue {
  Memory::desc channel;
  dnnl::primitive_attr attr;

  explicit Epilogue(int64_t co)
      : channel({1, co, 1, 1}, kF32, Memory::format_tag::abcd) {
    dnnl::post_ops ops;
    ops.append_binary(dnnl::algorithm::binary_mul, channel);
    ops.append_binary(dnnl::algorithm::binary_add, channel);
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attr.set_post_ops(ops);
  }
};

struct Descs {
  Memory::desc src, weights, dst;
  Dims strides, dilates, pad_before, pad_after;
};

Descs DescsOf(const ConvShape& c) {
  Descs d;
  d.src = Image(c.in, c.ci);
  d.weights = Memory::desc(WeightsOf(c).dims, kF32, Memory::format_tag::any);
  d.dst = Image(c.out, c.co);
  d.strides.assign(c.rank(), c.stride);
  d.dilates.assign(c.rank(), c.dilation - 1);
  d.pad_before.assign(c.rank(), c.pad);
  for (int i = 0; i < c.rank(); ++i) {
    const int64_t reach = c.dilation * (c.kernel - 1) + 1;
    const int64_t longer = c.transposed ? c.out[i] : c.in[i];
    const int64_t shorter = c.transposed ? c.in[i] : c.out[i];
    d.pad_after.push_back((shorter - 1) * c.stride + reach - longer - c.pad);
  }
  return d;
}

template <typename PrimitiveDesc>
OneDnnPlan Bound(const PrimitiveDesc& chosen, dnnl::primitive primitive,
                 const OpCase& op, const ConvShape& c,
                 const OneDnnContext& context) {
  OneDnnPlan plan;
  plan.primitive = std::move(primitive);
  const Weights w = WeightsOf(c);
  plan.args[DNNL_ARG_SRC] = context.Bind(chosen.src_desc(), op.input(0));
  plan.args[DNNL_ARG_WEIGHTS] =
      context.Constant(Memory::desc(w.dims, kF32, w.strides), op.input(1),
                       chosen.weights_desc(), &plan);
  plan.args[DNNL_ARG_DST] = context.Bind(chosen.dst_desc(), op.out());
  return plan;
}

OneDnnPlan PlanTransposed(const OpCase& op, const ConvShape& c,
                          const OneDnnContext& context) {
  const Descs d = DescsOf(c);
  const dnnl::deconvolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct,
      d.src, d.weights, d.dst, d.strides, d.pad_before, d.pad_after);
  const dnnl::deconvolution_forward::primitive_desc chosen(desc,
                                                           context.engine);
  return Bound(chosen, dnnl::deconvolution_forward(chosen), op, c, context);
}

// Parameters of the workload: data, weights, bias, offset, scale.
OneDnnPlan PlanWithEpilogue(const OpCase& op, const ConvShape& c,
                            const OneDnnContext& context) {
  const Descs d = DescsOf(c);
  const Epilogue epilogue(c.co);
  const Memory::desc bias({c.co}, kF32, Memory::format_tag::a);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      d.src, d.weights, bias, d.dst, d.strides, d.dilates, d.pad_before,
      d.pad_after);
  const dnnl::convolution_forward::primitive_desc chosen(desc, epilogue.attr,
                                                         context.engine);
  OneDnnPlan plan =
      Bound(chosen, dnnl::convolution_forward(chosen), op, c, context);
  plan.args[DNNL_ARG_BIAS] = context.Bind(bias, op.input(2));
  plan.args[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] =
      context.Bind(epilogue.channel, op.input(4));
  plan.args[DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1] =
      context.Bind(epilogue.channel, op.input(3));
  return plan;
}

}  // namespace

OneDnnPlan PlanConvolution(const OpCase& op, const ConvShape& c,
                           const OneDnnContext& context) {
  if (c.transposed) return PlanTransposed(op, c, context);
  if (op.workload == "cbr") return PlanWithEpilogue(op, c, context);
  const Descs d = DescsOf(c);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      d.src, d.weights, d.dst, d.strides, d.dilates, d.pad_before, d.pad_after);
  const dnnl::convolution_forward::primitive_desc chosen(desc, context.engine);
  return Bound(chosen, dnnl::convolution_forward(chosen), op, c, context);
}

}  // namespace kiln::bench
