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

// `index` is read in the last of `loops`, the rows of a block, and a loop
// around it goes on to the next rows. Where loops between them walk over
// several panels of the block: the element to ask for in each iteration, so
// that one block asks for all of the next, row by row, since the hardware reads
// what lies in a row faster than what is apart. It may lie outside of the
// buffer.
//
//   for k0 in 8, j in 16, k in 64: ... Y[(k0*64 + k)*256 + j*16]
//     ->  Y[((k0 + 1)*64 + (j*64 + k)//16)*256 + (j*64 + k)%16*16]
std::optional<Expr> NextBlockIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_LOOK_AHEAD_H_
