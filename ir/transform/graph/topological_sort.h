// Dataflow blocks in another order.
//
//   depth first               breadth first
//   B1 = R.add(A, c1)         B1 = R.add(A, c1)
//   C1 = R.add(A, B1)         B2 = R.add(A, c2)
//   B2 = R.add(A, c2)         C1 = R.add(A, B1)
#ifndef KILN_IR_TRANSFORM_GRAPH_TOPOLOGICAL_SORT_H_
#define KILN_IR_TRANSFORM_GRAPH_TOPOLOGICAL_SORT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class SortOrder : uint8_t {
  kDepthFirst,
  kBreadthFirst,
  kDepthFirstFromOutputs,
  kBreadthFirstFromOutputs,
};

// Bindings of dataflow blocks are found from the inputs (parameters, and what
// is bound before the block) on: a binding follows when all that it needs is
// there; depth first, those that need no input follow what the inputs lead to.
//
// Or they are found from the outputs (what nothing in the block uses, the last
// one first) back. Depth first, what a binding needs comes ahead of it, operand
// by operand; breadth first, what is farther from the outputs comes first.
absl::StatusOr<Module> TopologicalSort(const Module& module, SortOrder order);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_TOPOLOGICAL_SORT_H_
