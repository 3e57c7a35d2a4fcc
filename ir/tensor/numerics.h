// Which rounding errors a schedule may make.
//
//   @T.prim_func
//   def main(...):
//       T.func_attr({"numerics": "normwise"})
//
// "termwise", as without the attribute: sums may be taken in any order, so the
// error of each element is small beside the magnitudes of its own terms.
// "normwise": also by methods whose error is only small beside the largest
// elements of the operands, as Strassen's products. Where operands hold
// infinities or NaNs, these may then reach other elements, and sums of operands
// may overflow. Integers are exact either way.
#ifndef KILN_IR_TENSOR_NUMERICS_H_
#define KILN_IR_TENSOR_NUMERICS_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function.
inline constexpr char kNumerics[] = "numerics";
inline constexpr char kTermwise[] = "termwise";
inline constexpr char kNormwise[] = "normwise";

// Whether `f` says that errors may be normwise.
bool AllowsNormwise(const Function& f);

// Says so of `f`.
void AllowNormwise(Function* f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_NUMERICS_H_
