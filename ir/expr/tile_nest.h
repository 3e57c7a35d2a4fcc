// Loops over a product of matrices that instructions for tiles of them take
// (TileInstructions, base/machine.h).
#ifndef KILN_IR_EXPR_TILE_NEST_H_
#define KILN_IR_EXPR_TILE_NEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "kiln/base/machine.h"
#include "kiln/ir/expr/dot_product.h"

namespace kiln {

// Rows and columns of a tile of sums.
inline constexpr int64_t kTileRows = 16;
// Groups of steps that one instruction adds up, each of kTileGroupBytes of a
// row and of a column.
inline constexpr int64_t kTileGroups = 16;
inline constexpr int64_t kTileGroupBytes = 4;
inline constexpr int kTileRegisters = 8;

// A loop around sums[..] += rows[..] * columns[..]: its iterations, and by how
// many elements of each tensor one lies from the next.
struct ProductLoop {
  int64_t extent = 1;
  int64_t sums = 0, rows = 0, columns = 0;
};

// The loops of such a product, from innermost: 16 columns, 16 rows, the steps
// of a group, which lie side by side in both factors, and 16 groups. Around
// them, tiles below each other and beside each other, as many as registers can
// hold, and further steps, in any order and each at most once.
struct TileNest {
  // Elements from a row to the next, and for the columns from a group to the
  // next, of each tensor.
  int64_t sums_row = 0, rows_row = 0, columns_group = 0;
  ProductLoop down, across, steps;
  size_t loops = 0;  // those above

  int64_t tiles() const { return down.extent * across.extent; }
};

// Of `loops`, from the innermost, as many as belong to a nest of tiles of
// groups of `group` steps; nullopt where the first four do not make one.
std::optional<TileNest> TileNestOf(absl::Span<const ProductLoop> loops,
                                   int64_t group);

// The steps of a group of such products of what is loaded; 0 where `tiles` take
// none of them.
int64_t StepsOfTileGroup(const NarrowProduct& product,
                         const TileInstructions& tiles);

}  // namespace kiln

#endif  // KILN_IR_EXPR_TILE_NEST_H_
