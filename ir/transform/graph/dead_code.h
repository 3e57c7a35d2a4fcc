// What nothing needs is dropped.
//
//   lv = R.exp(x)              gv = R.add(x, x)
//   gv = R.add(x, x)           return gv
//   return gv
#ifndef KILN_IR_TRANSFORM_GRAPH_DEAD_CODE_H_
#define KILN_IR_TRANSFORM_GRAPH_DEAD_CODE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Drops bindings whose variable is not used and whose value has no effect, and
// private functions that no public one leads to. Casts stay: they check.
absl::StatusOr<Module> EliminateDeadCode(const Module& module);

// The first half of it, of one function of the module.
graph::GraphFunction WithoutUnusedBindings(const graph::GraphFunction& f,
                                           const Module& module);
// Of all functions; none is dropped.
Module WithoutUnusedBindings(Module module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_DEAD_CODE_H_
