// Calls of private graph functions become their bodies.
//
//   y = cls.twice(x)      lv = R.add(x, x)       def twice(a):
//                         y = lv                     lv = R.add(a, a)
//                                                    return lv
//
// Functions that lead to themselves stay, as do those that are marked as one
// kernel ("Primitive") or as the business of another compiler ("Codegen",
// "Composite"), and calls of functions with branches in a dataflow block, which
// has none. A function that nobody names any more goes.
#ifndef KILN_IR_TRANSFORM_GRAPH_INLINE_FUNCTIONS_H_
#define KILN_IR_TRANSFORM_GRAPH_INLINE_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module that is inferred (ir/ops/infer.h), in normal form.
absl::StatusOr<Module> InlineFunctions(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_INLINE_FUNCTIONS_H_
