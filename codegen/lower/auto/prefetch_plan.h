// Where a nest of loops will read soon, for prefetching into the second-level
// cache while it still computes on what it has. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_PREFETCH_PLAN_H_
#define KILN_CODEGEN_LOWER_AUTO_PREFETCH_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Whether to compute `e` for an iteration that may not come could stop the
// program: it reads memory, or divides by what may be 0 there. For an iteration
// of `loops` that computes `e` for itself: divides by what moves with them.
bool MayTrap(const Expr& e);
bool MayTrap(const Expr& e, absl::Span<const ForNode* const> loops);

// The vectors to ask for in every `every`-th iteration of the innermost loop:
// their first elements, which may lie outside of the buffer.
struct PrefetchPlan {
  int64_t every = 1;  // a power of two
  std::vector<Expr> indices;
};

// `grid` is read in the last of `loops`. Where some loops around it pass over
// the same elements again, and one around those goes on to others: what to ask
// for, so that the passes together ask for all that the next of these
// iterations reads, and for little twice. Where several loops walk over a panel
// (the taps of a convolution), each iteration of the outer ones is a panel of
// its own. Nothing where an index reads memory itself.
//
//   for j in 16, i in 8, k in 512: ... Y[j*24576 + k*48]   // 8 passes
//     ->  in every 8th k:  Y[(j + 1)*24576 + (i*64 + k//8)*48]
PrefetchPlan PlanNextPanel(const VectorGrid& grid,
                           absl::Span<const ForNode* const> loops);

// Vectors at `index` are read in the last of `loops`. Where it and loops around
// it that move the index are passed over again.
struct Passes {
  Expr is_first;      // null where there are none
  int64_t steps = 1;  // iterations of the last loop in a pass
};
Passes PassesOver(const Expr& index, absl::Span<const ForNode* const> loops);

// `grid` is read in the last of `loops`, the rows of a block, and a loop around
// it goes on to the next rows. Where loops between them walk over several
// panels of the block: what to ask for, so that one block asks for all of the
// next, row by row, since the hardware reads what lies in a row faster than
// what is apart.
//
//   for k0 in 8, j in 16, k in 64: ... Y[(k0*64 + k)*256 + j*16]
//     ->  Y[((k0 + 1)*64 + (j*64 + k)//16)*256 + (j*64 + k)%16*16]
PrefetchPlan PlanNextBlock(const VectorGrid& grid,
                           absl::Span<const ForNode* const> loops);

// `scalars` are read one by one in the last of `loops`, in whose iterations
// together they are rows of consecutive elements: what to ask for, so that the
// loops inside the one that goes on to the next rows together ask, row by row,
// for the lines of those that come `ahead` iterations of it later. A line has
// `line` elements. Nothing where these are not beyond the rows at hand.
//
//   for i in 32, k in 16: ... X[i*896 + r*64 + k*4 + 0..3], r = 0..13
//     ->  in each k:  X[(i + 2)*896 + k*64 + 0, 16, 32, 48]
PrefetchPlan PlanNextRows(const VectorGrid& scalars, int64_t line,
                          int64_t ahead,
                          absl::Span<const ForNode* const> loops);

// A nest that only copies vectors out of one buffer: each iteration of `loops`
// those of `from`.
struct VectorCopy {
  VectorGrid from;
  std::vector<const ForNode*> loops;  // outermost first
};
std::optional<VectorCopy> FindVectorCopy(const Stmt& nest);

// `copy` stands in the last of the loops `around`, before the loops `work`:
// what to ask for in the latter, so that all of them together ask, row by row,
// for what the copy reads next time. Nothing where it reads the same again, or
// more than the work has time for.
//
//   for j in 16:
//     for k in 64: P[k*16 : k*16 + 16] = Y[k*256 + j*16 : ...]
//     for i in 8, k in 64: ...
//       ->  in every 8th k:  Y[(i*8 + k//8)*256 + (j + 1)%16*16]
PrefetchPlan PlanNextCopy(const VectorCopy& copy,
                          absl::Span<const ForNode* const> around,
                          absl::Span<const ForNode* const> work);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_PREFETCH_PLAN_H_
