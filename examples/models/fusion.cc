#include "kiln/examples/models/fusion.h"

#include <algorithm>

namespace kiln::models {
namespace {

template <typename T>
bool Is(const Node& node) {
  return std::holds_alternative<T>(node.layer);
}

class Grouper {
 public:
  explicit Grouper(const Network& net)
      : net_(net),
        readers_(net.nodes().size()),
        is_output_(net.nodes().size()),
        is_taken_(net.nodes().size()) {
    for (size_t i = 0; i < net.nodes().size(); ++i) {
      for (const int input : net.nodes()[i].inputs) {
        readers_[input].push_back(static_cast<int>(i));
      }
    }
    for (const int output : net.outputs()) is_output_[output] = true;
  }

  std::vector<Group> Run() {
    std::vector<Group> groups;
    for (size_t i = 0; i < net_.nodes().size(); ++i) {
      if (is_taken_[i] || Is<layer::Input>(net_.nodes()[i])) continue;
      groups.push_back(GroupAt(static_cast<int>(i)));
    }
    std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
      return a.result < b.result;
    });
    return groups;
  }

 private:
  Group GroupAt(int anchor) {
    Group group{anchor, -1, {}, anchor};
    is_taken_[anchor] = true;
    const Node& node = net_.nodes()[anchor];
    const bool is_conv = Is<layer::Conv>(node);
    if (!is_conv && !Is<layer::ConvTranspose>(node) &&
        !Is<layer::Dense>(node)) {
      return group;
    }
    while (TakeNext(group, is_conv)) {
    }
    return group;
  }

  bool TakeNext(Group& group, bool is_conv) {
    const std::vector<int>& readers = readers_[group.result];
    if (readers.size() != 1 || is_output_[group.result]) return false;
    const int next = readers[0];
    const Node& node = net_.nodes()[next];
    if (is_taken_[next]) return false;
    if (Is<layer::BatchNorm>(node) && is_conv && group.result == group.anchor) {
      group.batch_norm = next;
    } else if (Is<layer::Elementwise>(node)) {
      group.steps.push_back({next});
    } else if (Is<layer::Add>(node) && !HasSum(group)) {
      const bool is_first = node.inputs[0] == group.result;
      group.steps.push_back({next, node.inputs[is_first ? 1 : 0]});
    } else {
      return false;
    }
    is_taken_[next] = true;
    group.result = next;
    return true;
  }

  static bool HasSum(const Group& group) {
    return std::any_of(
        group.steps.begin(), group.steps.end(),
        [](const Group::Step& step) { return step.addend >= 0; });
  }

  const Network& net_;
  std::vector<std::vector<int>> readers_;
  std::vector<bool> is_output_, is_taken_;
};

}  // namespace

std::vector<int> Group::Operands(const Network& net) const {
  std::vector<int> operands = net.nodes()[anchor].inputs;
  for (const Step& step : steps) {
    if (step.addend >= 0) operands.push_back(step.addend);
  }
  return operands;
}

std::vector<Group> GroupsOf(const Network& net) { return Grouper(net).Run(); }

}  // namespace kiln::models
