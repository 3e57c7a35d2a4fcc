// Extents of programs as the runtime works them out.
#ifndef KILN_CODEGEN_HOST_DIM_H_
#define KILN_CODEGEN_HOST_DIM_H_

#include <optional>
#include <unordered_map>

#include "kiln/ir/expr/expr.h"
#include "kiln/vm/library/kernel_dim.h"

namespace kiln {

// Where the value of a variable stands at run time.
using ScalarNumbers = std::unordered_map<const VarNode*, int>;

// Constants, variables that have a number, +, -, *, //, %, T.min and T.max of
// those, and choices between them by comparisons; casts that keep every size
// are looked through. Both sides of a choice are worked out: it has no value
// where either divides by zero. Nothing for others.
std::optional<KernelDim> ToKernelDim(const Expr& e,
                                     const ScalarNumbers& scalars);

}  // namespace kiln

#endif  // KILN_CODEGEN_HOST_DIM_H_
