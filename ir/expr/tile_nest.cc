// For sums of 32 x 32 over 128 bytes, where both factors lie in tiles:
//
//   for k in 2:                           steps
//     for i in 2:                         tiles below each other
//       for j in 2:                       tiles beside each other
//         for kg in 16:                   groups of steps
//           for ks in 4:                  steps of a group
//             for ir in 16:               rows
//               for jr in vectorized(16):   columns
//                 C[i*512 + ir*32 + j*16 + jr] +=
//                     A[(i*2 + k)*1024 + ir*64 + kg*4 + ks] *
//                     B[(j*2 + k)*1024 + kg*64 + jr*4 + ks]
#include "kiln/ir/expr/tile_nest.h"

#include <algorithm>
#include <vector>

namespace kiln {
namespace {

bool Moves(const ProductLoop& loop, int64_t sums, int64_t rows,
           int64_t columns) {
  return loop.sums == sums && loop.rows == rows && loop.columns == columns;
}

// Whether no two iterations of all loops come to the same sum.
bool AreApart(std::vector<ProductLoop> loops) {
  std::sort(loops.begin(), loops.end(),
            [](const auto& a, const auto& b) { return a.sums < b.sums; });
  int64_t reach = 0;
  for (const ProductLoop& loop : loops) {
    if (loop.extent == 1) continue;
    if (loop.sums <= reach) return false;
    reach += (loop.extent - 1) * loop.sums;
  }
  return true;
}

// The place of the loop in the nest; null where it has none.
ProductLoop* PlaceOf(const ProductLoop& loop, TileNest* nest) {
  if (loop.sums == 0) return &nest->steps;
  if (loop.columns == 0) return &nest->down;
  return loop.rows == 0 ? &nest->across : nullptr;
}

// Sums, the rows' operands, and one of the columns' at least.
bool FitRegisters(const TileNest& nest) {
  return nest.steps.extent >= 1 && nest.down.extent >= 1 &&
         nest.across.extent >= 1 && nest.down.extent <= kTileRegisters &&
         nest.across.extent <= kTileRegisters &&
         nest.tiles() + nest.down.extent + 1 <= kTileRegisters;
}

bool IsUsable(const TileNest& nest) {
  return FitRegisters(nest) &&
         AreApart({{.extent = kTileRows, .sums = 1},
                   {.extent = kTileRows, .sums = nest.sums_row},
                   nest.down,
                   nest.across});
}

}  // namespace

std::optional<TileNest> TileNestOf(absl::Span<const ProductLoop> loops,
                                   int64_t group) {
  if (loops.size() < 4 || loops[0].extent != kTileRows ||
      loops[1].extent != kTileRows || loops[2].extent != group ||
      loops[3].extent != kTileGroups) {
    return std::nullopt;
  }
  TileNest nest{.sums_row = loops[1].sums,
                .rows_row = loops[1].rows,
                .columns_group = loops[3].columns,
                .loops = 4};
  if (!Moves(loops[0], 1, 0, group) ||
      !Moves(loops[1], nest.sums_row, nest.rows_row, 0) ||
      !Moves(loops[2], 0, 1, 1) ||
      !Moves(loops[3], 0, group, nest.columns_group) || nest.rows_row < 0 ||
      nest.columns_group < 0 || !IsUsable(nest)) {
    return std::nullopt;
  }
  for (; nest.loops < loops.size(); ++nest.loops) {
    TileNest more = nest;
    ProductLoop* place = PlaceOf(loops[nest.loops], &more);
    if (!place || place->extent != 1) break;
    *place = loops[nest.loops];
    if (!IsUsable(more)) break;
    nest = more;
  }
  return nest;
}

namespace {

// One element, or one in all lanes.
bool IsLoad(const Expr& e) {
  const auto* all = e.As<BroadcastNode>();
  return (all ? all->value : e).As<LoadNode>() != nullptr;
}

}  // namespace

int64_t StepsOfTileGroup(const NarrowProduct& product,
                         const TileInstructions& tiles) {
  if (!IsLoad(product.a) || !IsLoad(product.b)) return 0;
  const DType a = product.a.dtype(), b = product.b.dtype();
  if (product.is_float()) return tiles.bf16 ? 2 : 0;
  return tiles.bytes && a.bits() == 8 && b.bits() == 8 ? 4 : 0;
}

}  // namespace kiln
