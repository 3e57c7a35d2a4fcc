// Which values of a graph are computed by one kernel.
//
// Operators fuse along post-dominators: conv2d -> add -> relu, where nothing
// else needs what lies between. A reduction takes in what follows element by
// element; injective operators follow each other. Nothing fuses two heavy ones,
// but for a window that slides over a large value: strips of both at a time
// spare writing and reading it.
#ifndef KILN_IR_TRANSFORM_GRAPH_FUSION_GROUPS_H_
#define KILN_IR_TRANSFORM_GRAPH_FUSION_GROUPS_H_

#include <vector>

#include "kiln/ir/transform/graph/annotate_patterns.h"

namespace kiln {

// A value, and the later ones that use it, each with the pattern of that use.
struct FlowNode {
  struct Use {
    int node;
    OpPattern pattern;
  };
  OpPattern pattern = OpPattern::kOpaque;
  bool is_needed_outside = false;
  std::vector<Use> uses;
  bool is_large = false;   // the value had better not go through memory
  bool is_window = false;  // slides over what it uses (sliding_window.h)
};

// The group of each node: the index of one of its members. Nodes stand in
// order of evaluation. Groups have at most `max_size` members.
std::vector<int> FusionGroups(const std::vector<FlowNode>& nodes, int max_size);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUSION_GROUPS_H_
