// Functions inside of functions become functions of the module.
//
//   def main(x):                            def main_inner(y, x): ...
//       def inner(y): return R.add(y, x)    def main(x):
//       return inner(x)                         inner = R.make_closure(
//                                                   cls.main_inner, (x,))
//                                               return R.invoke_pure_closure(
//                                                   inner, (x,), ...)
#ifndef KILN_IR_TRANSFORM_GRAPH_LAMBDA_LIFT_H_
#define KILN_IR_TRANSFORM_GRAPH_LAMBDA_LIFT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info. A function that uses nothing of what is
// around it is called directly; another one becomes a closure.
absl::StatusOr<Module> LambdaLift(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LAMBDA_LIFT_H_
