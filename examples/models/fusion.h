// Which layers a library computes in one pass, as a user of oneDNN would choose
// them: a convolution or a dense layer with the batch norm, activations and sum
// that follow it.
#ifndef KILN_EXAMPLES_MODELS_FUSION_H_
#define KILN_EXAMPLES_MODELS_FUSION_H_

#include <vector>

#include "kiln/examples/models/network.h"

namespace kiln::models {

// Nodes are given by their places in the network, -1 for none.
struct Group {
  // What is done to each element of the anchor's result: an activation, or a
  // sum with another node's value.
  struct Step {
    int node;
    int addend = -1;  // of a sum
  };
  int anchor;
  int batch_norm = -1;  // behind a convolution, whose weights take it in
  std::vector<Step> steps;
  int result;  // the last node, whose value the group gives

  // Nodes whose values it reads.
  std::vector<int> Operands(const Network& net) const;
};

// Each node but inputs is in one group. A group stands where its result does,
// so all that it reads is ready. A chain ends at a value that the network
// gives, or that several read, and holds one sum at most.
std::vector<Group> GroupsOf(const Network& net);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_FUSION_H_
