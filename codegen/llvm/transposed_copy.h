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

// A square of `size` times `size` elements: store i writes, to consecutive
// elements, the elements first + i + j * stride for j = 0, 1, ...; which are
// rows of consecutive elements first + j * stride too. Each may be cast to the
// type of what is stored.
struct TransposedCopy {
  Buffer source;
  Expr first;
  int64_t stride = 0;
  int64_t size = 0;
  std::vector<const StoreNode*> stores;
};

// The copy that the first of `stmts` make; nullopt unless its size is a power
// of two from 4 to 16, and it is from one buffer to another.
std::optional<TransposedCopy> FindTransposedCopy(absl::Span<const Stmt> stmts);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_TRANSPOSED_COPY_H_
