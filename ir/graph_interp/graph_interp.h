// The meaning of graph functions: an interpreter that goes through bindings in
// order, slow and obvious.
//
// An op is computed for the extents that its arguments have: it is inferred and
// lowered for those, and the tensor function is interpreted
// (ir/interp/interp.h). Nothing of what a compiler makes for symbolic extents
// takes part.
#ifndef KILN_IR_GRAPH_INTERP_GRAPH_INTERP_H_
#define KILN_IR_GRAPH_INTERP_GRAPH_INTERP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/graph_interp/value.h"
#include "kiln/ir/interp/options.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

struct GraphInterpOptions {
  // Of each tensor function.
  InterpOptions tensor;
  // Functions that the program calls by name; may be null.
  const PackedTable* packed = nullptr;
  // Calls within each other, and bindings in all.
  int max_depth = 200;
  int64_t max_bindings = int64_t{1} << 24;
};

// The result of the function called `function`. The module is inferred
// (ir/ops/infer.h). Arguments are not written, but by packed functions and
// calls that the program declares as in place. Errors name the function, the
// variable and the reason.
absl::StatusOr<Value> InterpretGraph(const Module& module,
                                     const std::string& function,
                                     absl::Span<const Value> args,
                                     const GraphInterpOptions& options = {});

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_INTERP_GRAPH_INTERP_H_
