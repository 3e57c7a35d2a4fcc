// Functions of scalars. They write no tensor and give a value instead:
//
//   @T.prim_func
//   def rows(n: T.int64) -> T.int64:
//       return (n + 15) // 16
//
// Their body is one evaluation of ret(value). Graph functions call them by
// name, with numbers; they are no kernels.
#ifndef KILN_IR_TENSOR_RETURNED_VALUE_H_
#define KILN_IR_TENSOR_RETURNED_VALUE_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// What `f` gives, in terms of its parameters; null where it gives nothing.
Expr ReturnedValue(const Function& f);

// The body of a function that gives `value`.
Stmt ReturnOf(const Expr& value);

// Whether anything in `body` returns a value.
bool HasReturn(const Stmt& body);

// `f`, which gives a value, as a function that writes it into one more
// parameter, a tensor without dimensions.
Function WithStoredValue(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_RETURNED_VALUE_H_
