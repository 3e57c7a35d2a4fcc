// How long the tensors that a sequence allocates are needed.
#ifndef KILN_IR_TRANSFORM_GRAPH_MEMORY_LIVES_H_
#define KILN_IR_TRANSFORM_GRAPH_MEMORY_LIVES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A binding of R.builtin.alloc_tensor, by its place among all bindings of the
// sequence.
struct AllocatedLife {
  size_t last_use = 0;       // its own place where nothing uses it
  size_t position = 0;       // among the operands of the last use
  bool is_result = false;    // of the sequence, alone or in a tuple
  bool is_captured = false;  // used in a branch or a local function
  // The place of another allocation, whose tensor is read for the last time by
  // the call that is the first to use this one, and writes it: a kernel that
  // may do so in place (ir/tensor/in_place.h).
  std::optional<size_t> in_place_of;
};

// By the place of the allocation. Other names for a tensor, tuples that hold it
// and views of it count as the tensor.
std::map<size_t, AllocatedLife> LivesOf(const graph::SeqNode& seq,
                                        const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_MEMORY_LIVES_H_
