// Loops that instructions for tiles of matrices take (ir/expr/tile_nest.h).
#ifndef KILN_CODEGEN_LLVM_TILE_PRODUCT_H_
#define KILN_CODEGEN_LLVM_TILE_PRODUCT_H_

#include <optional>

#include "kiln/base/machine.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/expr/tile_nest.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::codegen_internal {

struct TileProduct {
  TileNest nest;
  // What is loaded of rows and of columns.
  DType rows_type, columns_type;
  Buffer sums, rows, columns;
  // Where the first iteration of all loops finds them.
  Expr first_sum, first_row, first_column;
};

// The product that `loop`, which has the mark kTileProduct, and all loops
// inside of it compute; nullopt where they are no nest for `tiles`.
std::optional<TileProduct> FindTileProduct(const ForNode& loop,
                                           const TileInstructions& tiles);

// Whether `s` is a loop with the mark that makes all sums of the product zero,
// and nothing else.
bool MakesZero(const Stmt& s, const TileProduct& product);

// Whether there is one in `s`.
bool HoldsTileProduct(const Stmt& s, const TileInstructions& tiles);

// Whether other functions run within `s`: parallel loops, or functions of
// others.
bool LeavesFunction(const Stmt& s);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_TILE_PRODUCT_H_
