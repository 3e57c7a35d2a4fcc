// Reverse-mode differentiation of graph functions.
//
//   def main(x, w):                   def main_adjoint(x, w):
//       with R.dataflow():                with R.dataflow():
//           y = R.multiply(x, w)              y = R.multiply(x, w)
//           loss = R.sum(y)                   loss = R.sum(y)
//           R.output(loss)                    loss_adjoint = R.ones(())
//       return loss                           y_adjoint = R.broadcast_to(...)
//                                             x_adjoint = R.multiply(y_adjoint,
//                                             w)
//                                             ...
//                                         return (loss, (x_adjoint, w_adjoint))
//
// What is differentiated is straight-line: bindings of calls of ops that have a
// rule (rule.h), of R.call_tir_with_grad, and of tuples. Calls of graph
// functions are inlined ahead of it (inline_functions.h).
#ifndef KILN_IR_TRANSFORM_GRAPH_GRADIENT_GRADIENT_H_
#define KILN_IR_TRANSFORM_GRAPH_GRADIENT_GRADIENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct GradientOptions {
  std::string function = "main";
  // Variables, parameters or others, whose adjoints are given; by default all
  // parameters.
  std::optional<std::vector<std::string>> variables;
  // Which field of the result is differentiated, where it is a tuple.
  int target = 0;
};

// The module with the function `<function>_adjoint` besides: it gives the
// result of the function, and a tuple of the adjoints, zeros for what does not
// take part. Takes a module that is inferred (ir/ops/infer.h). The target is a
// float tensor of no dimensions. R.call_tir_with_grad names a tensor function
// of the module by `te_grad_name`: its parameters are the adjoints of the
// outputs, the inputs, and the adjoints of the inputs, which it writes.
// NotFound for a function or a variable that is none, InvalidArgument for a
// target that is no number, Unimplemented for what has no gradient, with the
// call.
absl::StatusOr<Module> Gradient(const Module& module,
                                const GradientOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_GRADIENT_GRADIENT_H_
