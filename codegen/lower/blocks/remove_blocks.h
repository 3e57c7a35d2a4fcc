#ifndef KILN_CODEGEN_LOWER_BLOCKS_REMOVE_BLOCKS_H_
#define KILN_CODEGEN_LOWER_BLOCKS_REMOVE_BLOCKS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Replaces every block by its body: iterators become their bindings, a
// predicate becomes an `if`, and a matched buffer becomes an access to the
// region that it views, shifted. Declared regions and block annotations go,
// but for marks (ir/tensor/marks.h), which go to the function.
// Expects blocks without init and without alloc_buffers.
//
// Refused: a matched buffer whose address the body uses, since the address of
// a region is not known as a variable.
absl::StatusOr<Function> RemoveBlocks(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_REMOVE_BLOCKS_H_
