// Symbolic dimensions, replaced throughout a function.
#ifndef KILN_IR_TENSOR_DIMS_H_
#define KILN_IR_TENSOR_DIMS_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `f` with variables replaced by expressions, in the shapes, strides and
// offsets of all its buffers, too. Scalar parameters that are replaced go.
Function SubstituteDims(Function f, const VarMap& map);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_DIMS_H_
