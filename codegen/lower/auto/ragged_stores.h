// Tiles whose results begin in the middle of cache lines. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_RAGGED_STORES_H_
#define KILN_CODEGEN_LOWER_AUTO_RAGGED_STORES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/codegen/lower/auto/epilogue.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

struct RaggedStores {
  size_t work = 0;  // the statement of the sequence that the work begins with
  std::vector<LateAccess> stores;
};

// Of the statements of `seq`, tiles: some work, and then stores to buffers that
// `is_far` accepts, each of more than half a line, few of them right after the
// one before, at least one across the border of two lines.
//
//   acc[0:16] = A[c] * W[c] + ...                       the work
//   acc[16:32] = A[c + 127] * W[c] + ...
//   Y[c*16 : c*16 + 16] = acc[0:16]                     its stores
//   Y[c*16 + 127 : c*16 + 143] = acc[16:32]
//
// Statements that store `most_work` bytes or more are no part of a tile.
std::vector<RaggedStores> FindRaggedStores(
    const SeqNode& seq, int64_t line_bytes, int64_t most_work,
    FunctionRef<bool(const Buffer&)> is_far);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_RAGGED_STORES_H_
