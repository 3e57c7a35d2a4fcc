// Layers over rows, whose layout is always row-major; what stands ahead of the
// last dimension counts as rows of one matrix:
//
//   (n, t, d) times (out, d)     inner product of n * t rows, bias, activation
//                                and sum in the same pass
#include <cstring>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/examples/models/onednn_planner.h"

namespace kiln::models {
namespace {

using Memory = dnnl::memory;
using Tag = Memory::format_tag;
constexpr auto kF32 = Memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

Memory::desc Any(const Extents& shape) { return {shape, kF32, Tag::any}; }

int64_t RowsOf(const Extents& shape) {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  return rows;
}

Memory::desc Matrix(const Extents& shape) {
  return Dense({RowsOf(shape), shape.back()});
}

// The same memory as a matrix.
Flow AsMatrix(const Flow& flow, const Extents& shape) {
  return {Matrix(shape), flow.data, flow.buffer};
}

}  // namespace

// --- Element by element.

absl::Status OneDnnPlanner::Plan(const layer::Elementwise& l,
                                 const Group& group) {
  const Flow& x = flows_[Anchor(group).inputs[0]];
  const Eltwise eltwise = EltwiseOf(l.activation);
  const dnnl::eltwise_forward::primitive_desc chosen(
      dnnl::eltwise_forward::desc(kInference, eltwise.algorithm, x.desc,
                                  eltwise.alpha, eltwise.beta),
      Attributes(), engine_);
  const Flow y = NewResult(group, x.desc);
  Add(NameOf(group), chosen, dnnl::eltwise_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)}, {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::Add&, const Group& group) {
  const Flow& a = flows_[Anchor(group).inputs[0]];
  const Flow b = In(flows_[Anchor(group).inputs[1]], a.desc);
  const dnnl::binary::primitive_desc chosen(
      dnnl::binary::desc(dnnl::algorithm::binary_add, a.desc, b.desc, a.desc),
      Attributes(), engine_);
  const Flow y = NewResult(group, a.desc);
  Add(NameOf(group), chosen, dnnl::binary(chosen),
      {{DNNL_ARG_SRC_0, Bind(a)},
       {DNNL_ARG_SRC_1, Bind(b)},
       {DNNL_ARG_DST, Bind(y)}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

// --- Products and norms.

absl::Status OneDnnPlanner::Plan(const layer::Dense&, const Group& group) {
  const Node& dense = Anchor(group);
  KILN_ASSIGN_OR_RETURN(const NDArray weight, WeightOf(dense, 0));
  const int source = dense.inputs[0];
  const Flow x = AsMatrix(RowMajor(source), node(source).shape);
  const int64_t out = weight.shape()[0], in = weight.shape()[1];
  const Memory::desc result = Matrix(dense.shape);
  const bool has_bias = dense.weights.size() > 1;
  const Memory::desc bias = has_bias ? Dense({out}) : Memory::desc();
  const dnnl::inner_product_forward::primitive_desc chosen(
      has_bias ? dnnl::inner_product_forward::desc(kInference, x.desc,
                                                   Any({out, in}), bias, result)
               : dnnl::inner_product_forward::desc(kInference, x.desc,
                                                   Any({out, in}), result),
      AttributesOf(group), engine_);
  const Flow y = Target(group, Dense(node(group.result).shape));
  Args args = {{DNNL_ARG_SRC, Bind(x)},
               {DNNL_ARG_WEIGHTS,
                Constant(weight, Dense({out, in}), chosen.weights_desc())},
               {DNNL_ARG_DST, Bind(AsMatrix(y, dense.shape))}};
  if (has_bias) {
    KILN_ASSIGN_OR_RETURN(const NDArray own, WeightOf(dense, 1));
    args[DNNL_ARG_BIAS] = Constant(own, bias, bias);
  }
  Add(NameOf(group), chosen, dnnl::inner_product_forward(chosen),
      std::move(args));
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::LayerNorm& l,
                                 const Group& group) {
  using Flags = dnnl::normalization_flags;
  const Node& norm = Anchor(group);
  KILN_ASSIGN_OR_RETURN(const NDArray gamma, WeightOf(norm, 0));
  KILN_ASSIGN_OR_RETURN(const NDArray beta, WeightOf(norm, 1));
  const Flow x = AsMatrix(RowMajor(norm.inputs[0]), norm.shape);
  const dnnl::layer_normalization_forward::primitive_desc chosen(
      dnnl::layer_normalization_forward::desc(
          kInference, x.desc, static_cast<float>(l.epsilon),
          Flags::use_scale | Flags::use_shift),
      Attributes(), engine_);
  const Memory::desc width = Dense({norm.shape.back()});
  const Flow y = NewResult(group, Dense(norm.shape));
  Add(NameOf(group), chosen, dnnl::layer_normalization_forward(chosen),
      {{DNNL_ARG_SRC, Bind(x)},
       {DNNL_ARG_SCALE, Constant(gamma, width, width)},
       {DNNL_ARG_SHIFT, Constant(beta, width, width)},
       {DNNL_ARG_DST, Bind(AsMatrix(y, norm.shape))}});
  flows_[group.result] = y;
  return absl::OkStatus();
}

// --- Rows of tables.

absl::Status OneDnnPlanner::Plan(const layer::Embedding&, const Group& group) {
  const Node& own = Anchor(group);
  KILN_ASSIGN_OR_RETURN(const NDArray table, WeightOf(own, 0));
  plan_.constants.push_back(table);
  const auto* ids =
      reinterpret_cast<const int64_t*>(flows_[own.inputs[0]].data);
  const Flow y = NewResult(group, Dense(own.shape));
  const int64_t rows = RowsOf(own.shape), width = own.shape.back();
  AddLoop(NameOf(group), [=, rows_of = table.data_as<float>()] {
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(y.data + i * width * sizeof(float), rows_of + ids[i] * width,
                  width * sizeof(float));
    }
  });
  flows_[group.result] = y;
  return absl::OkStatus();
}

// y[i, j, k] = x[i, j, k] + row[(j, k) modulo what the addend has]
absl::Status OneDnnPlanner::PlanRepeated(const NDArray& addend,
                                         int64_t elements, const Group& group) {
  const Node& own = Anchor(group);
  plan_.constants.push_back(addend);
  const Flow x = RowMajor(own.inputs[0]);
  const Flow y = NewResult(group, Dense(own.shape));
  const int64_t times = RowsOf(own.shape) * own.shape.back() / elements;
  AddLoop(NameOf(group), [=, row = addend.data_as<float>()] {
    const auto* from = reinterpret_cast<const float*>(x.data);
    auto* to = reinterpret_cast<float*>(y.data);
    for (int64_t i = 0; i < times; ++i, from += elements, to += elements) {
      for (int64_t j = 0; j < elements; ++j) to[j] = from[j] + row[j];
    }
  });
  flows_[group.result] = y;
  return absl::OkStatus();
}

absl::Status OneDnnPlanner::Plan(const layer::AddPositions&,
                                 const Group& group) {
  KILN_ASSIGN_OR_RETURN(const NDArray table, WeightOf(Anchor(group), 0));
  const Extents& shape = Anchor(group).shape;
  return PlanRepeated(table, shape[1] * shape[2], group);
}

absl::Status OneDnnPlanner::Plan(const layer::AddRow&, const Group& group) {
  KILN_ASSIGN_OR_RETURN(const NDArray row, WeightOf(Anchor(group), 0));
  return PlanRepeated(row, row.num_elements(), group);
}

}  // namespace kiln::models
