// From layers to primitives. Internal to onednn_program.h.
#ifndef KILN_EXAMPLES_MODELS_ONEDNN_PLANNER_H_
#define KILN_EXAMPLES_MODELS_ONEDNN_PLANNER_H_

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/examples/models/fusion.h"
#include "kiln/examples/models/network.h"
#include "kiln/examples/models/onednn_memory.h"
#include "kiln/examples/models/weights.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace kiln::models {

// A primitive with what it runs on, or a loop.
struct OneDnnStep {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> args;
  std::function<void()> loop;
};

struct OneDnnPlan {
  std::vector<OneDnnStep> steps;
  std::vector<std::string> names;  // of steps
  std::vector<NDArray> inputs, outputs;
  // What steps point at.
  Arena arena;
  std::vector<NDArray> constants;
  uint64_t scratchpad_bytes = 0;
  AlignedMemory scratchpad;
};

// Its methods throw dnnl::error where oneDNN refuses, and std::bad_alloc.
class OneDnnPlanner {
 public:
  OneDnnPlanner(const Network& net, Weights& weights,
                const dnnl::engine& engine);
  // `layer` is what is being planned, for messages about exceptions.
  absl::StatusOr<OneDnnPlan> Run(std::string* layer);

 private:
  using Memory = dnnl::memory;
  using Args = std::unordered_map<int, Memory>;

  // onednn_planner.cc: values, constants and steps.
  absl::Status MakeEnds();
  void FindLastUses();
  const Node& node(int id) const { return net_.nodes()[id]; }
  const Node& Anchor(const Group& group) const { return node(group.anchor); }
  Memory Bind(const Flow& flow) const;
  // Memory for what the group gives: an output of the network, where one is to
  // lie so, or a buffer.
  Flow NewResult(const Group& group, const Memory::desc& desc);
  Flow NewTemporary(const Memory::desc& desc);
  // The value in the layout, which a step copies it into where it has another.
  Flow In(const Flow& flow, const Memory::desc& wanted);
  Flow RowMajor(int id);
  void Copy(const Flow& from, const Flow& to);
  absl::StatusOr<NDArray> WeightOf(const Node& node, size_t index);
  // Constant data of `plain` layout in another one.
  Memory Constant(const NDArray& data, const Memory::desc& plain,
                  const Memory::desc& wanted);
  dnnl::primitive_attr Attributes() const;
  // With the activations and the sum of the group.
  dnnl::primitive_attr AttributesOf(const Group& group) const;
  // Where a group writes: over the addend of its sum, which is there, or new.
  Flow Target(const Group& group, const Memory::desc& desc);
  template <typename PrimitiveDesc>
  void Add(const std::string& name, const PrimitiveDesc& chosen,
           dnnl::primitive primitive, Args args);
  void AddLoop(const std::string& name, std::function<void()> loop);
  std::string NameOf(const Group& group) const;
  void BindScratchpad();

  // One group: the flow of its result goes to flows_.
  absl::Status Plan(const layer::Input& l, const Group& group);
  // onednn_images.cc
  absl::Status Plan(const layer::Conv& l, const Group& group);
  absl::Status Plan(const layer::ConvTranspose& l, const Group& group);
  absl::Status Plan(const layer::BatchNorm& l, const Group& group);
  absl::Status Plan(const layer::MaxPool& l, const Group& group);
  absl::Status Plan(const layer::GlobalAvgPool& l, const Group& group);
  absl::Status Plan(const layer::Resize& l, const Group& group);
  absl::Status Plan(const layer::Concat& l, const Group& group);
  absl::StatusOr<NDArray> FoldedWeight(const Group& group);
  absl::StatusOr<NDArray> FoldedBias(const Group& group);
  absl::StatusOr<std::vector<float>> ScalesOf(const Group& group);
  // onednn_rows.cc
  absl::Status Plan(const layer::Elementwise& l, const Group& group);
  absl::Status Plan(const layer::Add& l, const Group& group);
  absl::Status Plan(const layer::Dense& l, const Group& group);
  absl::Status Plan(const layer::LayerNorm& l, const Group& group);
  absl::Status Plan(const layer::Embedding& l, const Group& group);
  absl::Status Plan(const layer::AddPositions& l, const Group& group);
  absl::Status Plan(const layer::AddRow& l, const Group& group);
  // The operand plus so many elements of a constant, again and again.
  absl::Status PlanRepeated(const NDArray& addend, int64_t elements,
                            const Group& group);
  // onednn_attention.cc
  absl::Status Plan(const layer::Part& l, const Group& group);
  absl::Status Plan(const layer::SplitHeads& l, const Group& group);
  absl::Status Plan(const layer::Attention& l, const Group& group);
  // c = a b * scale, of matrices in the last two dimensions.
  void PlanProduct(const std::string& name, const Flow& a, const Flow& b,
                   const Flow& c, float scale);
  void PlanSoftmax(const std::string& name, const Flow& x);

  const Network& net_;
  Weights& weights_;
  dnnl::engine engine_;
  OneDnnPlan plan_;
  std::vector<Group> groups_;
  std::vector<Flow> flows_;     // of nodes
  std::vector<int> last_uses_;  // of nodes: a group
  int now_ = 0;                 // the group that is planned
};

template <typename PrimitiveDesc>
void OneDnnPlanner::Add(const std::string& name, const PrimitiveDesc& chosen,
                        dnnl::primitive primitive, Args args) {
  const Memory::desc scratchpad = chosen.scratchpad_desc();
  plan_.scratchpad_bytes =
      std::max<uint64_t>(plan_.scratchpad_bytes, scratchpad.get_size());
  args[DNNL_ARG_SCRATCHPAD] = Memory(scratchpad, engine_, nullptr);
  plan_.steps.push_back({std::move(primitive), std::move(args), nullptr});
  plan_.names.push_back(name + "  " + chosen.impl_info_str());
}

// An eltwise algorithm with its parameters.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha, beta;
};
Eltwise EltwiseOf(Activation activation);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_ONEDNN_PLANNER_H_
