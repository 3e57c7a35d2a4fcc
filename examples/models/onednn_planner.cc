// Groups of layers, in order, become steps. Each group asks oneDNN for a
// primitive whose operands may lie as it likes, brings the values there that
// lie otherwise, and takes memory for its result:
//
//   conv + batch norm + sum + ReLU     weights folded, packed once; the sum is
//                                      made over the addend, where that is not
//                                      read again
//
// A buffer is free again behind the last group that reads it.
#include "kiln/examples/models/onednn_planner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::models {
namespace {

constexpr int kForever = std::numeric_limits<int>::max();

bool IsView(const Node& node) {
  return std::holds_alternative<layer::Part>(node.layer) ||
         std::holds_alternative<layer::SplitHeads>(node.layer);
}

const char* NameOfStep(const Node& node) {
  const auto* step = std::get_if<layer::Elementwise>(&node.layer);
  if (!step) return "sum";
  switch (step->activation) {
    case Activation::kRelu:
      return "relu";
    case Activation::kRelu6:
      return "relu6";
    case Activation::kGelu:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu_tanh";
  }
}

}  // namespace

Eltwise EltwiseOf(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return {dnnl::algorithm::eltwise_relu, 0, 0};
    case Activation::kRelu6:
      return {dnnl::algorithm::eltwise_clip, 0, 6};
    case Activation::kGelu:
      return {dnnl::algorithm::eltwise_gelu_erf, 0, 0};
    case Activation::kGeluTanh:
      return {dnnl::algorithm::eltwise_gelu_tanh, 0, 0};
  }
}

OneDnnPlanner::OneDnnPlanner(const Network& net, Weights& weights,
                             const dnnl::engine& engine)
    : net_(net),
      weights_(weights),
      engine_(engine),
      groups_(GroupsOf(net)),
      flows_(net.nodes().size()),
      last_uses_(net.nodes().size()) {}

// --- The whole.

absl::StatusOr<OneDnnPlan> OneDnnPlanner::Run(std::string* layer) {
  KILN_RETURN_IF_ERROR(MakeEnds());
  FindLastUses();
  for (; now_ < static_cast<int>(groups_.size()); ++now_) {
    const Group& group = groups_[now_];
    *layer = NameOf(group);
    KILN_RETURN_IF_ERROR(
        std::visit([&](const auto& layer) { return Plan(layer, group); },
                   Anchor(group).layer));
    plan_.arena.Free(now_);
  }
  for (size_t i = 0; i < net_.outputs().size(); ++i) {
    const Flow& flow = flows_[net_.outputs()[i]];
    NDArray& output = plan_.outputs[i];
    if (flow.data == output.data()) continue;
    const Extents shape(output.shape().begin(), output.shape().end());
    Copy(flow, {Dense(shape), output.data_as<char>()});
  }
  BindScratchpad();
  return std::move(plan_);
}

// One for all steps, which run one after the other.
void OneDnnPlanner::BindScratchpad() {
  if (plan_.scratchpad_bytes == 0) return;
  plan_.scratchpad = AllocateAligned(plan_.scratchpad_bytes);
  if (!plan_.scratchpad) throw std::bad_alloc();
  for (OneDnnStep& step : plan_.steps) {
    const auto found = step.args.find(DNNL_ARG_SCRATCHPAD);
    if (found == step.args.end()) continue;
    found->second.set_data_handle(plan_.scratchpad.get());
  }
}

absl::Status OneDnnPlanner::MakeEnds() {
  for (size_t i = 0; i < net_.nodes().size(); ++i) {
    const auto* input = std::get_if<layer::Input>(&net_.nodes()[i].layer);
    if (!input) continue;
    KILN_ASSIGN_OR_RETURN(NDArray array,
                          NDArray::Zeros(net_.nodes()[i].shape, input->dtype));
    flows_[i] = {Dense(net_.nodes()[i].shape), array.data_as<char>()};
    plan_.inputs.push_back(std::move(array));
  }
  for (const int output : net_.outputs()) {
    KILN_ASSIGN_OR_RETURN(
        plan_.outputs.emplace_back(),
        NDArray::Empty(net_.nodes()[output].shape, DType::Float(32)));
  }
  return absl::OkStatus();
}

void OneDnnPlanner::FindLastUses() {
  for (const int output : net_.outputs()) last_uses_[output] = kForever;
  for (int g = static_cast<int>(groups_.size()); g-- > 0;) {
    const Group& group = groups_[g];
    const bool is_view = IsView(Anchor(group));
    const int last = is_view ? std::max(g, last_uses_[group.result]) : g;
    for (const int operand : group.Operands(net_)) {
      last_uses_[operand] = std::max(last_uses_[operand], last);
    }
  }
}

// --- Values.

OneDnnPlanner::Memory OneDnnPlanner::Bind(const Flow& flow) const {
  return Memory(flow.desc, engine_, flow.data);
}

Flow OneDnnPlanner::NewResult(const Group& group, const Memory::desc& desc) {
  if (desc == Dense(node(group.result).shape)) {
    for (size_t i = 0; i < net_.outputs().size(); ++i) {
      if (net_.outputs()[i] != group.result) continue;
      return {desc, plan_.outputs[i].data_as<char>()};
    }
  }
  const int last = std::max(now_, last_uses_[group.result]);
  const int buffer = plan_.arena.Take(desc.get_size(), last);
  return {desc, plan_.arena.data(buffer), buffer};
}

Flow OneDnnPlanner::NewTemporary(const Memory::desc& desc) {
  const int buffer = plan_.arena.Take(desc.get_size(), now_);
  return {desc, plan_.arena.data(buffer), buffer};
}

void OneDnnPlanner::Copy(const Flow& from, const Flow& to) {
  const dnnl::reorder::primitive_desc chosen(engine_, from.desc, engine_,
                                             to.desc, Attributes());
  Add("copy", chosen, dnnl::reorder(chosen),
      {{DNNL_ARG_FROM, Bind(from)}, {DNNL_ARG_TO, Bind(to)}});
}

Flow OneDnnPlanner::In(const Flow& flow, const Memory::desc& wanted) {
  if (flow.desc == wanted) return flow;
  const Flow copy = NewTemporary(wanted);
  Copy(flow, copy);
  return copy;
}

Flow OneDnnPlanner::RowMajor(int id) {
  return In(flows_[id], Dense(node(id).shape));
}

// --- Constants.

absl::StatusOr<NDArray> OneDnnPlanner::WeightOf(const Node& node,
                                                size_t index) {
  return weights_.Get(net_.weights()[node.weights[index]]);
}

OneDnnPlanner::Memory OneDnnPlanner::Constant(const NDArray& data,
                                              const Memory::desc& plain,
                                              const Memory::desc& wanted) {
  Memory from(plain, engine_, data.data());
  if (wanted == plain) {
    plan_.constants.push_back(data);
    return from;
  }
  Memory to(wanted, engine_);
  dnnl::stream once(engine_);
  dnnl::reorder(from, to).execute(once, from, to);
  once.wait();
  return to;
}

// --- Steps.

dnnl::primitive_attr OneDnnPlanner::Attributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::primitive_attr OneDnnPlanner::AttributesOf(const Group& group) const {
  dnnl::post_ops ops;
  for (const Group::Step& step : group.steps) {
    if (step.addend >= 0) {
      ops.append_sum(1.0f);
      continue;
    }
    const auto& own = std::get<layer::Elementwise>(node(step.node).layer);
    const Eltwise eltwise = EltwiseOf(own.activation);
    ops.append_eltwise(1.0f, eltwise.algorithm, eltwise.alpha, eltwise.beta);
  }
  dnnl::primitive_attr attributes = Attributes();
  attributes.set_post_ops(ops);
  return attributes;
}

Flow OneDnnPlanner::Target(const Group& group, const Memory::desc& desc) {
  for (const Group::Step& step : group.steps) {
    if (step.addend < 0) continue;
    const Flow& addend = flows_[step.addend];
    const bool is_source = addend.data == flows_[Anchor(group).inputs[0]].data;
    const bool is_last =
        addend.buffer >= 0 && plan_.arena.last_use(addend.buffer) == now_;
    if (addend.desc == desc && is_last && !is_source) {
      plan_.arena.Extend(addend.buffer, last_uses_[group.result]);
      return addend;
    }
    const Flow target = NewResult(group, desc);
    Copy(addend, target);
    return target;
  }
  return NewResult(group, desc);
}

void OneDnnPlanner::AddLoop(const std::string& name,
                            std::function<void()> loop) {
  plan_.steps.push_back({{}, {}, std::move(loop)});
  plan_.names.push_back(name + "  loop");
}

std::string OneDnnPlanner::NameOf(const Group& group) const {
  std::string name = Anchor(group).name;
  if (group.batch_norm >= 0) name += "+batch_norm";
  for (const Group::Step& step : group.steps) {
    absl::StrAppend(&name, "+", NameOfStep(node(step.node)));
  }
  return name;
}

absl::Status OneDnnPlanner::Plan(const layer::Input&, const Group&) {
  return absl::OkStatus();
}

}  // namespace kiln::models
