// The packed functions that programs call without anybody's doing: what ops
// become that are no loops over tensors of known extents.
//
//   kiln.builtin.unique(x, sorted, return_index, return_inverse, return_counts
//                       [, axis])
//     the distinct elements of x, or its distinct slices along an axis, in
//     ascending order, or in that of their first appearance; where asked for,
//     of int64: where each appears first, which of them each element is, and
//     how often each occurs. A NaN equals a NaN and is larger than any number.
//   kiln.builtin.nonzero(x)
//     int64[rank, count]: the indices of the elements that are not 0, in
//     row-major order
//   kiln.builtin.tensor_to_shape(x)    the integers of a vector as a shape
//   kiln.builtin.assert_op(condition, format)  an error where it is false
//   kiln.builtin.print(values..., format)      a line on standard output
#ifndef KILN_VM_MACHINE_BUILTINS_H_
#define KILN_VM_MACHINE_BUILTINS_H_

#include "kiln/vm/machine/function_table.h"

namespace kiln::vm {

const FunctionTable& Builtins();

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_BUILTINS_H_
