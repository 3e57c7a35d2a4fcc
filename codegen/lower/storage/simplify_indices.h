#ifndef KILN_CODEGEN_LOWER_STORAGE_SIMPLIFY_INDICES_H_
#define KILN_CODEGEN_LOWER_STORAGE_SIMPLIFY_INDICES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Simplifies indices, bounds and conditions with what the loops and branches
// around them say about variables; branches that are decided go. Expects no
// blocks. Run it while a loop body stands there once: its cost is linear in the
// program, but far from small for each expression.
absl::StatusOr<Function> SimplifyIndices(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_STORAGE_SIMPLIFY_INDICES_H_
