// Conditions as lists of what has to hold.
#ifndef KILN_IR_EXPR_CONJUNCTS_H_
#define KILN_IR_EXPR_CONJUNCTS_H_

#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln {

// [a, b, c] of `a and b and c`, however it is nested, in this order;
// `condition` alone where it is no conjunction.
std::vector<Expr> ConjunctsOf(const Expr& condition);

// `a and b`; either may be null, which asks for nothing.
Expr Conjunction(const Expr& a, const Expr& b);

}  // namespace kiln

#endif  // KILN_IR_EXPR_CONJUNCTS_H_
