// Attention: two products of batches of matrices with a softmax between them,
// which is made in place. Heads and parts are views of what they are taken
// from, by strides:
//
//   (n, t, h * e) as (n, h, t, e)      strides (t * h * e, e, h * e, 1)
//
// Where a product of views is none of the library's fast ones, its operands
// are copied first, and its result behind it.
#include <cmath>
#include <cstring>
#include <utility>

#include "kiln/examples/models/onednn_planner.h"

namespace kiln::models {
namespace {

using Memory = dnnl::memory;
using Product = dnnl::matmul::primitive_desc;

Extents ShapeOf(const Flow& flow) { return flow.desc.dims(); }

Memory::desc Any(const Flow& flow) {
  return {flow.desc.dims(), Memory::data_type::f32, Memory::format_tag::any};
}

// Another shape and strides of the same memory.
Flow View(const Flow& flow, const Extents& shape, const Extents& strides) {
  return {Strided(shape, strides), flow.data, flow.buffer};
}

Flow Transposed(const Flow& flow) {
  Extents shape = ShapeOf(flow), strides = StridesOf(flow.desc);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  std::swap(strides[shape.size() - 1], strides[shape.size() - 2]);
  return View(flow, shape, strides);
}

// Without a batch of one, which libraries are slower with.
Flow WithoutBatch(const Flow& flow) {
  const Extents shape = ShapeOf(flow), strides = StridesOf(flow.desc);
  if (shape[0] != 1) return flow;
  return View(flow, {shape.begin() + 1, shape.end()},
              {strides.begin() + 1, strides.end()});
}

bool IsFast(const Product& chosen) {
  return std::strncmp(chosen.impl_info_str(), "ref", 3) != 0;
}

}  // namespace

absl::Status OneDnnPlanner::Plan(const layer::Part& l, const Group& group) {
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const Extents& shape = Anchor(group).shape;
  Flow part = View(x, shape, StridesOf(x.desc));
  part.data += l.index * shape.back() * static_cast<int64_t>(sizeof(float));
  flows_[group.result] = part;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::SplitHeads&, const Group& group) {
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const Extents& shape = Anchor(group).shape;
  const Extents strides = StridesOf(x.desc);
  flows_[group.result] = View(
      x, shape, {strides[0], shape[3] * strides[2], strides[1], strides[2]});
  return absl::OkStatus();
}

void OneDnnPlanner::PlanProduct(const std::string& name, const Flow& a,
                                const Flow& b, const Flow& c, float scale) {
  dnnl::primitive_attr attributes = Attributes();
  if (scale != 1) attributes.set_output_scales(0, {scale});
  const auto choose = [&](const Memory::desc& x, const Memory::desc& y,
                          const Memory::desc& z) {
    return Product(dnnl::matmul::desc(x, y, z), attributes, engine_);
  };
  Product chosen = choose(a.desc, b.desc, c.desc);
  if (!IsFast(chosen)) chosen = choose(Any(a), Any(b), c.desc);
  if (!IsFast(chosen)) chosen = choose(Any(a), Any(b), Any(c));
  const Flow x = In(a, chosen.src_desc()), y = In(b, chosen.weights_desc());
  const bool is_direct = chosen.dst_desc() == c.desc;
  const Flow z = is_direct ? c : NewTemporary(chosen.dst_desc());
  Add(name, chosen, dnnl::matmul(chosen),
      {{DNNL_ARG_SRC, Bind(x)},
       {DNNL_ARG_WEIGHTS, Bind(y)},
       {DNNL_ARG_DST, Bind(z)}});
  if (!is_direct) Copy(z, c);
}

void OneDnnPlanner::PlanSoftmax(const std::string& name, const Flow& x) {
  const int axis = static_cast<int>(ShapeOf(x).size()) - 1;
  const dnnl::softmax_forward::primitive_desc chosen(
      dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, x.desc,
                                  axis),
      Attributes(), engine_);
  Add(name, chosen, dnnl::softmax_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)}, {DNNL_ARG_DST, Bind(x)}});
}

absl::Status OneDnnPlanner::Plan(const layer::Attention&, const Group& group) {
  const Node& own = Anchor(group);
  const auto operand = [&](int i) {
    return WithoutBatch(flows_[own.inputs[i]]);
  };
  const Flow q = operand(0), k = operand(1), v = operand(2);
  const Extents& queries = node(own.inputs[0]).shape;  // (n, h, t, e)
  const int64_t heads = queries[1], tokens = queries[2], size = queries[3];
  Extents shape = ShapeOf(q);
  shape.back() = node(own.inputs[1]).shape[2];
  const Flow scores = NewTemporary(Dense(shape));
  const std::string name = NameOf(group);
  PlanProduct(name + " scores", q, Transposed(k), scores,
              1 / std::sqrt(static_cast<float>(size)));
  PlanSoftmax(name + " softmax", scores);
  const Flow y = NewResult(group, Dense(own.shape));
  const int64_t width = heads * size;
  PlanProduct(name + " answers", scores, v,
              WithoutBatch(View(y, queries, {tokens * width, size, width, 1})),
              1);
  flows_[group.result] = y;
  return absl::OkStatus();
}

}  // namespace kiln::models
