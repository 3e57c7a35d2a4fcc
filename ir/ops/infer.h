// Inference: the struct info of every binding of a module, and A-normal form.
//
//   KILN_ASSIGN_OR_RETURN(Module inferred, InferModule(module));
//
// A value that stands inside of another one gets a binding of its own: every
// operand becomes a variable, a constant, a number, a shape or a tuple of
// those. A variable that had no struct info becomes one with the info that its
// value gives. What the text annotates is kept where the value always fits it;
// where it may or may not fit, a match_cast checks it when the program runs;
// where it never fits, the module is refused.
#ifndef KILN_IR_OPS_INFER_H_
#define KILN_IR_OPS_INFER_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// InvalidArgument names the function and the variable, and shows the call that
// is wrong (ir/ops/op_call.h).
absl::StatusOr<Module> InferModule(const Module& module);

// The module with one graph function inferred (again), and in normal form.
// The others are used as they are declared.
absl::StatusOr<graph::GraphFunction> InferFunction(const graph::FunctionNode& f,
                                                   const Module& module);

// `e` without the struct info of what it binds, results of functions included,
// so that inference starts anew. Parameters, casts and what calls declare stay.
graph::Expr WithoutInfo(const graph::Expr& e);

// What a call gives whose operands all have struct info.
absl::StatusOr<graph::StructInfo> InferCall(const graph::CallNode& call,
                                            const OpContext& context);

}  // namespace kiln

#endif  // KILN_IR_OPS_INFER_H_
