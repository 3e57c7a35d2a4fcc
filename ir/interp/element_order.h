// Whether every element of a function can be computed alone.
// Internal to ir/interp.
#ifndef KILN_IR_INTERP_ELEMENT_ORDER_H_
#define KILN_IR_INTERP_ELEMENT_ORDER_H_

#include "absl/status/status.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::interp_internal {

// `e` over loop variables: iterators of blocks become what is bound to them.
// `bound` holds the iterators of the blocks around `e`, resolved themselves.
std::vector<Expr> Resolve(const std::vector<Expr>& list, const VarMap& bound);
// Adds the iterators of a block.
void AddBindings(const BlockRealizeNode& realize, VarMap& bound);

// Unimplemented where a read may see another value than the last one that is
// written, or where something stands in the way (see elements.h).
absl::Status CheckElementsAlone(const Function& f);

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_ELEMENT_ORDER_H_
