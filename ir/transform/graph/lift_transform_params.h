// What a model does to its weights is done once, ahead of all calls.
//
//   def main(x, w):                      def
//   main_transform_params(model_params):
//       R.func_attr({"num_input": 1})        w = model_params[0]
//       t = R.permute_dims(w)                t = R.permute_dims(w)
//       y = R.matmul(x, t)                   return (t,)
//       return y                         def main(x, t):
//                                            y = R.matmul(x, t)
//                                            return y
//
// The first "num_input" parameters of a function change from call to call, the
// others are weights. Bindings of dataflow blocks that need nothing but weights
// are lifted; R.builtin.stop_lift_params ends that. What is left takes, behind
// its inputs, the weights that it still uses and what was lifted: the fields of
// the tuple that the new function gives.
#ifndef KILN_IR_TRANSFORM_GRAPH_LIFT_TRANSFORM_PARAMS_H_
#define KILN_IR_TRANSFORM_GRAPH_LIFT_TRANSFORM_PARAMS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class LiftInto {
  kOneEach,    // "<function>_transform_params"
  kOneForAll,  // "transform_params": what all functions do to the same weights
};

// Functions without "num_input" stay. Takes a module that is inferred
// (ir/ops/infer.h). InvalidArgument for a count that is none of the function's
// parameters, and, for kOneForAll, for functions whose weights differ.
absl::StatusOr<Module> LiftTransformParams(const Module& module, LiftInto into);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LIFT_TRANSFORM_PARAMS_H_
