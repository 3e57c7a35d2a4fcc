// Which class an operation belongs to.
#ifndef KILN_SEARCH_FEATURE_OPS_H_
#define KILN_SEARCH_FEATURE_OPS_H_

#include <optional>

#include "kiln/ir/expr/expr.h"
#include "kiln/search/feature/summary.h"

namespace kiln {

// Of the operation that `e` itself does, its operands aside. An addition of a
// product is a multiply-add: its product is no operation of its own. nullopt
// for constants, variables, loads and what costs nothing.
std::optional<OpClass> ClassOf(const Expr& e);

// Whether a call takes one instruction at most, unlike functions such as exp.
bool IsOneInstruction(Intrinsic op);

// The product in a multiply-add, or null.
Expr FusedProduct(const Expr& e);

}  // namespace kiln

#endif  // KILN_SEARCH_FEATURE_OPS_H_
