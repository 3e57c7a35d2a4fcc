// Ops that compute each element from those at the same place: any layout will
// do, as long as all tensors stand in one.
//
//   R.add(x, bias)    x NHWC, bias (1, C, 1, 1)   bias is brought to NHWC
//   R.add(x, bias)    x NHWC, bias (C, 1, 1)      bias is brought to HWC
//   R.add(x, bias)    x NHWC, bias (H, W)         x is brought back
#include <algorithm>

#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {
namespace {

std::optional<LayoutPlan> OneByOne(const LayoutCall& call) {
  if (call.tensors.empty()) return std::nullopt;
  return FollowFirst(call, call.attrs());
}

// What a tensor of `info` stands in beside one that stands in `layout` and has
// at least as many dimensions; nullopt where it cannot.
std::optional<TensorLayout> Beside(const TensorLayout& layout, int rank,
                                   const graph::TensorInfo& info,
                                   Analyzer& analyzer) {
  if (info.rank == 0) return TensorLayout();
  if (info.rank == rank) {
    return layout.Fits(info, analyzer) ? std::optional(layout) : std::nullopt;
  }
  if (layout.HasParts() || info.rank == graph::kUnknownRank) {
    return std::nullopt;
  }
  // The leading axes, which it lacks, have to be in front.
  std::vector<int> leading;
  for (int axis = 0; axis < rank - info.rank; ++axis) {
    if (layout.PlaceOf(axis) != axis) return std::nullopt;
    leading.push_back(axis);
  }
  return layout.Without(leading);
}

std::optional<LayoutPlan> PlanFor(const LayoutCall& call,
                                  const TensorLayout& layout, int rank) {
  LayoutPlan plan;
  for (const graph::TensorInfo* tensor : call.tensors) {
    auto beside = Beside(layout, rank, *tensor, call.analyzer());
    if (!beside) return std::nullopt;
    plan.args.push_back(*std::move(beside));
  }
  plan.results = {layout};
  plan.attrs = call.attrs();
  return plan;
}

// The layout of the first of the largest tensors that all can follow.
std::optional<LayoutPlan> Broadcast(const LayoutCall& call) {
  int rank = 0;
  for (const graph::TensorInfo* tensor : call.tensors) {
    if (tensor->rank == graph::kUnknownRank) return std::nullopt;
    rank = std::max(rank, tensor->rank);
  }
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const bool is_choice =
        call.tensors[i]->rank == rank && !call.layouts[i].IsPlain();
    if (!is_choice) continue;
    if (auto plan = PlanFor(call, call.layouts[i], rank)) return plan;
  }
  return std::nullopt;
}

constexpr LayoutRow kRows[] = {
    {"abs", OneByOne},           {"acos", OneByOne},
    {"acosh", OneByOne},         {"asin", OneByOne},
    {"asinh", OneByOne},         {"astype", OneByOne},
    {"atan", OneByOne},          {"atanh", OneByOne},
    {"bitwise_not", OneByOne},   {"ceil", OneByOne},
    {"clip", OneByOne},          {"cos", OneByOne},
    {"cosh", OneByOne},          {"erf", OneByOne},
    {"exp", OneByOne},           {"floor", OneByOne},
    {"isfinite", OneByOne},      {"isinf", OneByOne},
    {"isnan", OneByOne},         {"log", OneByOne},
    {"logical_not", OneByOne},   {"negative", OneByOne},
    {"nn.dropout", OneByOne},    {"nn.gelu", OneByOne},
    {"nn.gelu_tanh", OneByOne},  {"nn.leakyrelu", OneByOne},
    {"nn.relu", OneByOne},       {"nn.relu6", OneByOne},
    {"nn.selu", OneByOne},       {"nn.silu", OneByOne},
    {"nn.softplus", OneByOne},   {"ones_like", OneByOne},
    {"round", OneByOne},         {"rsqrt", OneByOne},
    {"sigmoid", OneByOne},       {"sign", OneByOne},
    {"sin", OneByOne},           {"sinh", OneByOne},
    {"sqrt", OneByOne},          {"square", OneByOne},
    {"tan", OneByOne},           {"tanh", OneByOne},
    {"trunc", OneByOne},         {"zeros_like", OneByOne},
    {"add", Broadcast},          {"atan2", Broadcast},
    {"bitwise_and", Broadcast},  {"bitwise_or", Broadcast},
    {"bitwise_xor", Broadcast},  {"divide", Broadcast},
    {"equal", Broadcast},        {"ewise_fma", Broadcast},
    {"floor_divide", Broadcast}, {"floor_mod", Broadcast},
    {"greater", Broadcast},      {"greater_equal", Broadcast},
    {"left_shift", Broadcast},   {"less", Broadcast},
    {"less_equal", Broadcast},   {"log_add_exp", Broadcast},
    {"logical_and", Broadcast},  {"logical_or", Broadcast},
    {"logical_xor", Broadcast},  {"maximum", Broadcast},
    {"minimum", Broadcast},      {"mod", Broadcast},
    {"multiply", Broadcast},     {"not_equal", Broadcast},
    {"power", Broadcast},        {"right_shift", Broadcast},
    {"subtract", Broadcast},     {"where", Broadcast},
};

}  // namespace

absl::Span<const LayoutRow> ElementRules() { return kRows; }

}  // namespace kiln
