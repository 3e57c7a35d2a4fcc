#ifndef KILN_CODEGEN_LOWER_STORAGE_FLATTEN_BUFFERS_H_
#define KILN_CODEGEN_LOWER_STORAGE_FLATTEN_BUFFERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Gives every buffer, parameters included, one dimension, and every access one
// int64 index: row-major or by the strides of the buffer, plus its offset. The
// extent is the number of elements that the box spans. A view of other storage
// is resolved to that storage; one of another type is refused. Expects no
// blocks.
absl::StatusOr<Function> FlattenBuffers(Function f);

// The strides of `buffer`: its own, or the row-major ones.
std::vector<Expr> StridesOf(const BufferNode& buffer);
// The number of the element at `indices`, the offset of the buffer included.
Expr LinearIndex(const BufferNode& buffer, const std::vector<Expr>& indices);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_STORAGE_FLATTEN_BUFFERS_H_
