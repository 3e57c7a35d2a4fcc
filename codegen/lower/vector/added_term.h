// Internal to codegen/lower/vector.
#ifndef KILN_CODEGEN_LOWER_VECTOR_ADDED_TERM_H_
#define KILN_CODEGEN_LOWER_VECTOR_ADDED_TERM_H_

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// x of C[i] = C[i] + x or C[i] = x + C[i], of a buffer with one dimension and
// of elements or vectors; null for other stores.
Expr AddedTerm(const StoreNode& store);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_ADDED_TERM_H_
