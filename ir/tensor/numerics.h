// Which rounding errors a schedule and the compiler may make.
//
//   @T.prim_func
//   def main(...):
//       T.func_attr({"numerics": "normwise"})
//
// "strict": none. Each operation is rounded as the program spells it, and sums
// are taken in its order.
// "componentwise", as without the attribute: sums may be taken in any order, so
// the error of each element is small beside the magnitudes of its own terms.
// "normwise": also by methods whose error is only small beside the largest
// elements of the operands, as Strassen's products. Where operands hold
// infinities or NaNs, these may then reach other elements, and sums of operands
// may overflow. Integers are exact in all of them. docs/numerics.md has a table
// of what each allows.
#ifndef KILN_IR_TENSOR_NUMERICS_H_
#define KILN_IR_TENSOR_NUMERICS_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function.
inline constexpr char kNumerics[] = "numerics";
inline constexpr char kStrict[] = "strict";
inline constexpr char kTermwise[] = "componentwise";
inline constexpr char kNormwise[] = "normwise";

// Whether the attributes of a function, of tensors or of a graph, say that
// errors may be normwise.
bool AllowsNormwise(const AttrMap& attrs);
bool AllowsNormwise(const Function& f);
// Whether `f` says that results may not differ from what it spells.
bool IsStrict(const Function& f);

// Whether `f` calls functions such as exp, whose results compiled code and the
// interpreter need not round alike.
bool CallsRoundedMath(const Function& f);

// Says so of `f`.
void AllowNormwise(Function* f);
void MakeStrict(Function* f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_NUMERICS_H_
