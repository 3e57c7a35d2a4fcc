// Ops that work along axes: these are looked up where they stand now. An axis
// that has parts is none to work along.
//
//   R.nn.softmax(x, axis=1)           x NHWC   axis=3
//   R.nn.batch_norm(x, g, ..., axis=1)         axis=3, the rest as it is
#include <algorithm>

#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {
namespace {

// The data stands as it is; other tensors, with a number for each element along
// axes of it, as the program has them.
std::optional<LayoutPlan> DataAlone(const LayoutCall& call,
                                    const std::vector<std::string>& names) {
  AttrMap attrs = call.attrs();
  for (const std::string& name : names) {
    const auto moved = MovedAxes(call, name, call.layouts[0]);
    if (!moved) return std::nullopt;
    attrs[name] = *moved;
  }
  LayoutPlan plan = FollowFirst(call, std::move(attrs));
  for (size_t i = 1; i < plan.args.size(); ++i) {
    plan.args[i] = TensorLayout::Plain(call.tensors[i]->rank);
  }
  return plan;
}

std::optional<LayoutPlan> OneAxis(const LayoutCall& call) {
  return DataAlone(call, {"axis"});
}

std::optional<LayoutPlan> BatchNorm(const LayoutCall& call) {
  auto plan = DataAlone(call, {"axis"});
  if (!plan) return std::nullopt;
  for (size_t i = 1; i < plan->results.size(); ++i) {
    plan->results[i] = TensorLayout::Plain(call.results[i]->rank);
  }
  return plan;
}

std::optional<LayoutPlan> SeveralAxes(const LayoutCall& call) {
  return DataAlone(call, {"axes"});
}

std::optional<LayoutPlan> ChannelAndAxes(const LayoutCall& call) {
  return DataAlone(call, {"channel_axis", "axes"});
}

// Other tensors have an element for each place of the data or of the result:
// all stand alike.
std::optional<LayoutPlan> AllAlong(const LayoutCall& call) {
  if (call.layouts[0].HasParts()) return std::nullopt;
  for (const graph::TensorInfo* tensor : call.tensors) {
    if (!call.layouts[0].Fits(*tensor, call.analyzer())) return std::nullopt;
  }
  const auto moved = MovedAxes(call, "axis", call.layouts[0]);
  if (!moved) return std::nullopt;
  AttrMap attrs = call.attrs();
  attrs["axis"] = *moved;
  return FollowFirst(call, std::move(attrs));
}

// Indices of one dimension stand in place of the axis.
std::optional<LayoutPlan> Take(const LayoutCall& call) {
  const bool keeps_axes = call.tensors.size() == 1
                              ? call.results[0]->rank == call.tensors[0]->rank
                              : call.tensors[1]->rank == 1;
  return keeps_axes ? OneAxis(call) : std::nullopt;
}

// Joined: the layout of the first tensor that all can stand in.
std::optional<LayoutPlan> Concat(const LayoutCall& call) {
  const auto axes = AxesNamed(call, "axis");
  if (!axes) return std::nullopt;
  for (const TensorLayout& layout : call.layouts) {
    const bool fits_all =
        !layout.IsPlain() &&
        std::all_of(call.tensors.begin(), call.tensors.end(),
                    [&](const graph::TensorInfo* tensor) {
                      return layout.Fits(*tensor, call.analyzer());
                    });
    if (!fits_all) continue;
    AttrMap attrs = call.attrs();
    attrs["axis"] = Int(layout.PlaceOf((*axes)[0]));
    return LayoutPlan{std::vector<TensorLayout>(call.tensors.size(), layout),
                      {layout},
                      std::move(attrs),
                      {}};
  }
  return std::nullopt;
}

// Where an axis with parts is cut, every cut has to be between whole parts.
std::optional<LayoutPlan> Split(const LayoutCall& call) {
  const TensorLayout& layout = call.layouts[0];
  const auto axes = AxesNamed(call, "axis");
  if (!axes) return std::nullopt;
  const int64_t size = layout.PartSize((*axes)[0]);
  for (const graph::TensorInfo* result : call.results) {
    if (!layout.Fits(*result, call.analyzer())) return std::nullopt;
  }
  AttrMap attrs = call.attrs();
  attrs["axis"] = Int(layout.PlaceOf((*axes)[0]));
  if (call.call.attr("indices_or_sections").list()) {
    const auto cuts = call.call.Ints("indices_or_sections");
    AttrList moved;
    for (const int64_t cut : *cuts) {
      if (cut % size != 0) return std::nullopt;
      moved.push_back(Int(cut / size));
    }
    attrs["indices_or_sections"] = std::move(moved);
  }
  return FollowFirst(call, std::move(attrs));
}

constexpr LayoutRow kRows[] = {
    {"argsort", OneAxis},
    {"concat", Concat},
    {"cumprod", OneAxis},
    {"cumsum", OneAxis},
    {"dequantize", OneAxis},
    {"flip", OneAxis},
    {"gather_elements", AllAlong},
    {"nn.batch_norm", BatchNorm},
    {"nn.group_norm", ChannelAndAxes},
    {"nn.instance_norm", ChannelAndAxes},
    {"nn.layer_norm", SeveralAxes},
    {"nn.log_softmax", OneAxis},
    {"nn.prelu", OneAxis},
    {"nn.rms_norm", SeveralAxes},
    {"nn.softmax", OneAxis},
    {"quantize", OneAxis},
    {"repeat", OneAxis},
    {"scatter_elements", AllAlong},
    {"sort", OneAxis},
    {"split", Split},
    {"take", Take},
    {"topk", OneAxis},
};

}  // namespace

absl::Span<const LayoutRow> AxisRules() { return kRows; }

}  // namespace kiln
