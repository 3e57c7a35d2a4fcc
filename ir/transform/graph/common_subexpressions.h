// What is computed twice is computed once.
//
//   a = R.exp(x)        a = R.exp(x)
//   b = R.exp(x)        b = a
//   c = R.add(a, b)     c = R.add(a, a)
#ifndef KILN_IR_TRANSFORM_GRAPH_COMMON_SUBEXPRESSIONS_H_
#define KILN_IR_TRANSFORM_GRAPH_COMMON_SUBEXPRESSIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A value without effects that is equal to an earlier one, over the same
// variables and with the same struct info, is the earlier variable.
absl::StatusOr<Module> EliminateCommonSubexpressions(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_COMMON_SUBEXPRESSIONS_H_
