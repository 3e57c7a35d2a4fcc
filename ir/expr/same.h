// Equality of expressions over the same variables and buffers.
#ifndef KILN_IR_EXPR_SAME_H_
#define KILN_IR_EXPR_SAME_H_

#include "kiln/ir/expr/expr.h"

namespace kiln {

// Whether two expressions are equal node by node; variables and buffers by
// identity. A call with effects is the same only as itself. False also means
// that it was too much to compare (kMostNodesCompared).
bool SameExpr(const Expr& a, const Expr& b);

// The same, where factors of a product may stand in any order: n * m, m * n.
bool SameButForFactorOrder(const Expr& a, const Expr& b);

// Expressions share parts, so that what takes a page may spell out to more
// nodes than any machine holds.
inline constexpr int kMostNodesCompared = 1 << 14;

}  // namespace kiln

#endif  // KILN_IR_EXPR_SAME_H_
