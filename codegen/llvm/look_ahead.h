// Where a nest of loops will read soon, for prefetching into the second-level
// cache while it still computes on what it has. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_LOOK_AHEAD_H_
#define KILN_CODEGEN_LLVM_LOOK_AHEAD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::codegen_internal {

// The base of an index with consecutive lanes, or null.
Expr ContiguousBase(const Expr& index);

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

// From the first to the last element of `buffer` that vectors in `body` read,
// as far as their indices differ by constants.
int64_t VectorSpan(const Stmt& body, const Buffer& buffer);

// A nest that only copies vectors out of one buffer: each iteration of `loops`
// some that are `step` elements apart, from `first` on.
struct VectorCopy {
  Buffer from;
  Expr first;
  int lanes = 1;
  int64_t count = 1;
  int64_t step = 0;
  std::vector<const ForNode*> loops;  // outermost first
};
std::optional<VectorCopy> FindVectorCopy(const Stmt& nest);

// `copy` stands in the last of the loops `around`, before the loops `work`: the
// elements to ask for in each iteration of the latter, so that all of them
// together ask, row by row, for what the copy reads next time. They may lie
// outside of the buffer. None where it reads the same again, or more than the
// work has time for.
//
//   for j in 16:
//     for k in 64: P[k*16 : k*16 + 16] = Y[k*256 + j*16 : ...]
//     for i in 8, k in 64: ...
//       ->  Y[(i*64 + k)//8*256 + (j + 1)%16*16]
std::vector<Expr> NextCopyIndices(const VectorCopy& copy,
                                  absl::Span<const ForNode* const> around,
                                  absl::Span<const ForNode* const> work);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_LOOK_AHEAD_H_
