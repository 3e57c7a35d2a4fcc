// Bounds of index expressions in numbers. Internal to ir/interp.
#ifndef KILN_IR_INTERP_ELEMENT_INTERVAL_H_
#define KILN_IR_INTERP_ELEMENT_INTERVAL_H_

#include "kiln/ir/arith/const_bound.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/var_table.h"

namespace kiln::interp_internal {

// Holds every value of `e` while each variable runs through its bounds. Exact
// where each variable stands in it once; what is read, other variables and
// narrower integers, which wrap, may be anything.
ConstBound BoundOf(const Expr& e, const VarTable<ConstBound>& vars);

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_ELEMENT_INTERVAL_H_
