// Where a nest of loops will read soon, for prefetching into the second-level
// cache while it still computes on what it has. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_LOOK_AHEAD_H_
#define KILN_CODEGEN_LLVM_LOOK_AHEAD_H_

#include <optional>

#include "absl/types/span.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::codegen_internal {

// `index` is read in the last of `loops`. Where some loops around it pass over
// the same elements again, and one around those goes on to others: the element
// to ask for in each iteration, so that the passes together ask for all that
// the next of these iterations reads. It may lie outside of the buffer. An
// index that reads memory itself has none.
//
//   for j in 16, i in 8, k in 512: ... Y[j*24576 + k*48]   // 8 passes
//     ->  Y[(j + 1)*24576 + (i*64 + k//8)*48]
std::optional<Expr> NextPanelIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_LOOK_AHEAD_H_
