#include "kiln/search/space/rule/register_tiles.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The share of the tiles' elements that are wanted.
double Use(int64_t extent, int64_t tile) {
  return static_cast<double>(extent) / (CeilDiv(extent, tile) * tile);
}

double Quality(int64_t rows, int64_t columns, const RegisterFile& file,
               int tile_rows, int vectors) {
  const double sums = tile_rows * vectors;
  const double loads = tile_rows + vectors;
  // Eight chains hide the latency of multiply-adds; loads run beside them.
  const double steps = std::max({sums, loads, 8.0});
  return sums / (steps + 0.1 * loads) * Use(rows, tile_rows) *
         Use(columns, vectors * file.lanes);
}

}  // namespace

std::vector<RegisterTile> ChooseRegisterTiles(int64_t rows, int64_t columns,
                                              const RegisterFile& file,
                                              int count) {
  std::vector<RegisterTile> tiles;
  const int64_t most_vectors =
      std::min<int64_t>(6, CeilDiv(columns, file.lanes));
  for (int vectors = 1; vectors <= most_vectors; ++vectors) {
    // One register takes the broadcast, and one each a vector.
    const int most_rows = (file.registers - 1 - vectors) / vectors;
    for (int r = 1; r <= std::min<int64_t>(most_rows, rows); ++r) {
      tiles.push_back({r, vectors, Quality(rows, columns, file, r, vectors)});
    }
  }
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const RegisterTile& a, const RegisterTile& b) {
                     return a.weight > b.weight;
                   });
  if (static_cast<int>(tiles.size()) > count) tiles.resize(count);
  double total = 0;
  for (RegisterTile& tile : tiles) {
    tile.weight = std::pow(tile.weight, 4);
    total += tile.weight;
  }
  for (RegisterTile& tile : tiles) tile.weight /= total;
  return tiles;
}

}  // namespace kiln
