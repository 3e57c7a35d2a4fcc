// Whether code generation may choose what the schedule of a function leaves
// open.
//
//   @T.prim_func
//   def main(...):
//       T.func_attr({"kiln.auto": False})
//
// Without the attribute, or where it is True, loops get vectors, tiles of
// registers, copies of short bodies and prefetches that nobody asked for
// (codegen/lower/pipeline.h). Where it is False, what the schedule says is what
// is lowered.
#ifndef KILN_IR_TENSOR_AUTOMATIC_H_
#define KILN_IR_TENSOR_AUTOMATIC_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function: True or False.
inline constexpr char kAuto[] = "kiln.auto";

bool IsAuto(const Function& f);

// Says so of `f`, or of all functions of `m`.
void SetAuto(Function* f, bool is_auto);
void SetAuto(Module* m, bool is_auto);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_AUTOMATIC_H_
