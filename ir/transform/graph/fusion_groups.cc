// The post-dominator of a node is the first later one through which all paths
// to the outside go. A node joins the group of its post-dominator, with all
// that lies between, where patterns allow; in three rounds: what follows
// reductions, then injective operators, then what feeds tuples. At last windows
// take in what makes the large values that they slide over.
//
//        conv2d                 add's post-dominator is `sum`; conv2d's too.
//        /    \                 Both branches are element-wise, so all four
//      add    relu              become one group, whose pattern is conv2d's.
//        \    /
//         sum
#include "kiln/ir/transform/graph/fusion_groups.h"

#include <algorithm>

namespace kiln {
namespace {

struct Dominator {
  int parent = -1;  // none: the outside
  int depth = 1;
  OpPattern pattern = OpPattern::kElementwise;  // of the uses up to there
};

// The post-dominators of all nodes, from the last to the first.
class Dominators {
 public:
  explicit Dominators(const std::vector<FlowNode>& nodes)
      : tree_(nodes.size()) {
    for (size_t i = nodes.size(); i-- > 0;) {
      if (nodes[i].is_needed_outside) {
        tree_[i].pattern = OpPattern::kOpaque;
      } else {
        tree_[i] = Of(nodes[i]);
      }
    }
  }
  const Dominator& operator[](int node) const { return tree_[node]; }

 private:
  Dominator Of(const FlowNode& node) {
    Dominator result;
    if (node.uses.empty()) return result;
    int parent = node.uses[0].node;
    for (const FlowNode::Use& use : node.uses) {
      parent = Common(parent, use.node, result.pattern);
      result.pattern = std::max(result.pattern, use.pattern);
    }
    result.parent = parent;
    if (parent >= 0) result.depth = tree_[parent].depth + 1;
    return result;
  }

  int Common(int a, int b, OpPattern& pattern) const {
    while (a != b) {
      if (a < 0 || b < 0) return -1;
      const int depth_a = tree_[a].depth, depth_b = tree_[b].depth;
      if (depth_a <= depth_b) b = Up(b, pattern);
      if (depth_b <= depth_a) a = Up(a, pattern);
    }
    return a;
  }
  int Up(int node, OpPattern& pattern) const {
    pattern = std::max(pattern, tree_[node].pattern);
    return tree_[node].parent;
  }

  std::vector<Dominator> tree_;
};

enum class Round { kReductions, kInjective, kTuples, kWindows };

using IsAllowed = bool (*)(OpPattern pattern, bool is_sink);

bool UpToBroadcast(OpPattern pattern, bool) {
  return pattern <= OpPattern::kBroadcast;
}
bool UpToInjective(OpPattern pattern, bool) {
  return pattern <= OpPattern::kInjective;
}
bool ToReductionInTheEnd(OpPattern pattern, bool is_sink) {
  return pattern <=
         (is_sink ? OpPattern::kFusableReduction : OpPattern::kInjective);
}

class Partition {
 public:
  Partition(const std::vector<FlowNode>& nodes, int max_size)
      : nodes_(nodes),
        max_size_(max_size),
        dominators_(nodes),
        parents_(nodes.size()),
        patterns_(nodes.size()),
        sizes_(nodes.size(), 1),
        have_window_(nodes.size()) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      parents_[i] = static_cast<int>(i);
      patterns_[i] = nodes[i].pattern;
      have_window_[i] = nodes[i].is_window;
    }
  }

  std::vector<int> Run() {
    for (const Round round : {Round::kReductions, Round::kInjective,
                              Round::kTuples, Round::kWindows}) {
      for (size_t i = 0; i < nodes_.size(); ++i) {
        Visit(static_cast<int>(i), round);
      }
    }
    std::vector<int> groups;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      groups.push_back(Root(static_cast<int>(i)));
    }
    return groups;
  }

 private:
  int Root(int node) const {
    while (parents_[node] != node) node = parents_[node];
    return node;
  }

  void Visit(int node, Round round) {
    const int sink = dominators_[node].parent;
    const OpPattern pattern = patterns_[node];
    if (sink < 0 || pattern == OpPattern::kOpaque) return;
    if (SizeWith(node, sink) > max_size_) return;
    if (round == Round::kTuples) return VisitTuple(node, sink);
    if (round == Round::kWindows) return VisitWindow(node, sink);
    if (Root(node) == Root(sink)) return;
    if (patterns_[sink] == OpPattern::kTuple) return;
    if (const IsAllowed allowed = Rule(node, round)) {
      if (AllowsPath(node, sink, allowed)) Commit(node, sink);
    }
  }

  // What may lie between the node and its post-dominator; null where it does
  // not fuse in this round.
  IsAllowed Rule(int node, Round round) const {
    const OpPattern path = dominators_[node].pattern;
    switch (patterns_[node]) {
      case OpPattern::kElementwise:
      case OpPattern::kBroadcast:
        return path <= OpPattern::kReduction ? ToReductionInTheEnd : nullptr;
      case OpPattern::kInjective:
      case OpPattern::kTuple:
        return round == Round::kInjective ? UpToInjective : nullptr;
      case OpPattern::kFusableReduction:
        return round == Round::kReductions && path == OpPattern::kElementwise
                   ? UpToBroadcast
                   : nullptr;
      case OpPattern::kReduction:
      case OpPattern::kOpaque:
        return nullptr;
    }
    return nullptr;
  }

  // A tuple that injective operators have taken in takes in what feeds it.
  void VisitTuple(int node, int sink) {
    const OpPattern root = patterns_[Root(sink)];
    const bool is_taken_in =
        patterns_[sink] == OpPattern::kTuple && root <= OpPattern::kInjective;
    if (patterns_[node] > OpPattern::kInjective || !is_taken_in) return;
    if (AllowsPath(node, sink, UpToInjective)) Commit(node, sink);
  }

  // A window that only `node` goes to takes in the product that makes it.
  void VisitWindow(int node, int sink) {
    const int root = Root(node);
    if (!nodes_[node].is_large || !nodes_[sink].is_window ||
        nodes_[node].uses.size() != 1 || root == Root(sink) ||
        have_window_[root] || patterns_[root] != OpPattern::kFusableReduction) {
      return;
    }
    Commit(node, sink);
  }

  // Whether all that lies between, and the sink, is allowed.
  bool AllowsPath(int node, int sink, IsAllowed allowed) const {
    for (const int between : Between(node, sink)) {
      if (between == node) continue;
      if (!allowed(patterns_[Root(between)], between == sink)) return false;
    }
    return true;
  }

  // The nodes on paths from `node` to `sink`, which all its paths lead to.
  std::vector<int> Between(int node, int sink) const {
    std::vector<int> found, open = {node};
    std::vector<bool> seen(nodes_.size());
    seen[node] = true;
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      found.push_back(next);
      if (next == sink) continue;
      for (const FlowNode::Use& use : nodes_[next].uses) {
        if (!seen[use.node]) open.push_back(use.node);
        seen[use.node] = true;
      }
    }
    return found;
  }

  int SizeWith(int node, int sink) const {
    std::vector<int> roots = {Root(sink)};
    int size = sizes_[roots[0]];
    for (const int between : Between(node, sink)) {
      const int root = Root(between);
      if (std::count(roots.begin(), roots.end(), root) > 0) continue;
      roots.push_back(root);
      size += sizes_[root];
    }
    return size;
  }

  void Commit(int node, int sink) {
    for (const int between : Between(node, sink)) {
      const int child = Root(between), parent = Root(sink);
      if (child == parent) continue;
      parents_[child] = parent;
      sizes_[parent] += sizes_[child];
      have_window_[parent] = have_window_[parent] || have_window_[child];
      if (patterns_[child] == OpPattern::kFusableReduction) {
        patterns_[parent] = std::max(patterns_[child], patterns_[parent]);
      }
    }
  }

  const std::vector<FlowNode>& nodes_;
  const int max_size_;
  const Dominators dominators_;
  std::vector<int> parents_;  // a forest; roots are groups
  std::vector<OpPattern> patterns_;
  std::vector<int> sizes_;
  std::vector<bool> have_window_;
};

}  // namespace

std::vector<int> FusionGroups(const std::vector<FlowNode>& nodes,
                              int max_size) {
  return Partition(nodes, max_size).Run();
}

}  // namespace kiln
