// Vectors that one iteration of an innermost loop reads, as far as they are
// constants apart. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_VECTOR_GRID_H_
#define KILN_CODEGEN_LOWER_AUTO_VECTOR_GRID_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// The base of an index with consecutive lanes, or null.
Expr ContiguousBase(const Expr& index);

// Vectors of `buffer` in rows and columns, as those of an unrolled tile.
struct VectorGrid {
  Buffer buffer;
  Expr first;  // the element that the first vector begins at
  int lanes = 1;
  int64_t rows = 1, row_step = 0;  // elements from one to the next
  int64_t columns = 1, column_step = 0;

  int64_t count() const { return rows * columns; }
};

// The grid that all of `loads` make; nullopt where they make none, or some are
// no consecutive lanes.
std::optional<VectorGrid> GridOf(absl::Span<const LoadNode* const> loads);

// What `body` reads as vectors of consecutive lanes, in the order of first
// uses. Vectors that make no grid with others are grids of their own.
std::vector<VectorGrid> FindVectorGrids(const Stmt& body);

// The same of what it reads one by one: grids of one lane. What makes no grid
// with others that it is constants apart from is not among them.
std::vector<VectorGrid> FindScalarGrids(const Stmt& body);

// From the first to the last element of `buffer` that vectors in `body` read,
// as far as their indices differ by constants.
int64_t VectorSpan(const Stmt& body, const Buffer& buffer);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_VECTOR_GRID_H_
