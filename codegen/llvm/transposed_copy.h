// Copies that turn rows into columns, found among the stores of an unrolled
// loop: lanes that stand apart in memory, next to those of the next store.
#ifndef KILN_CODEGEN_LLVM_TRANSPOSED_COPY_H_
#define KILN_CODEGEN_LLVM_TRANSPOSED_COPY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::codegen_internal {

// A rectangle: store i writes, to `lanes` consecutive elements, the elements
// first + i + j * stride for j = 0, 1, ...; which are rows, as long as there
// are stores, of consecutive elements first + j * stride too. Each may be cast
// to the type of what is stored.
struct TransposedCopy {
  Buffer source;
  Expr first;
  int64_t stride = 0;
  int64_t lanes = 0;
  std::vector<const StoreNode*> stores;
};

// The copy that the first of `stmts`, at most 16, make from one buffer to
// another; nullopt unless it has at least 2 stores, of 2 to 16 lanes.
std::optional<TransposedCopy> FindTransposedCopy(absl::Span<const Stmt> stmts);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_TRANSPOSED_COPY_H_
