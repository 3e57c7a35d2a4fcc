// Rows that are read side by side. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_ROW_STREAMS_H_
#define KILN_CODEGEN_LOWER_AUTO_ROW_STREAMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Where vectors will be read some iterations later.
struct RowStreams {
  Expr first;  // of the grid then; may lie outside of the buffer
  // Loops that read the same again: only their first iterations need to ask.
  std::vector<const ForNode*> passes;
};

// `grid` is read in the last of `loops`. Where it, with the loops inside of one
// that goes on along them, is a block of a few rows that are read from one end
// to the other before the next ones: where each row is read `ahead` elements
// further on, or the next block at its beginning.
//
//   for k0 in 256, j in 172, k1 in 2:
//     ... Y[(k0*8 + k1*4 + r)*11008 + j*64 + 0..63], r = 0..3       ahead = 256
//     ->  Y[((k0 + (j + 4)//172)*8 + k1*4 + r)*11008 + (j + 4)%172*64 + 0..63]
//
// Nullopt for others, and where blocks share rows, as taps of a convolution do.
std::optional<RowStreams> FindRowStreams(const VectorGrid& grid,
                                         absl::Span<const ForNode* const> loops,
                                         int64_t ahead);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_ROW_STREAMS_H_
