#include "kiln/search/space/rule/register_tiles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kiln {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The share of the tiles' elements that are wanted.
double Use(int64_t extent, int64_t tile) {
  return static_cast<double>(extent) / (CeilDiv(extent, tile) * tile);
}

double Quality(const TileSpace& space, const RegisterFile& file,
               const RegisterTile& tile) {
  const int rows = tile.outer_rows * tile.rows;
  const double sums = rows * tile.vectors;
  const double loads = rows + tile.vectors;
  // Eight chains hide the latency of multiply-adds; loads run beside them.
  const double steps = std::max({sums, loads, 8.0});
  return sums / (steps + 0.1 * loads) * Use(space.outer, tile.outer_rows) *
         Use(space.rows, tile.rows) *
         Use(space.columns, tile.vectors * file.lanes);
}

// All tiles that leave registers for operands: one for a broadcast, and one for
// each vector.
std::vector<RegisterTile> AllTiles(const TileSpace& space,
                                   const RegisterFile& file) {
  std::vector<RegisterTile> tiles;
  const int most_vectors =
      std::min<int64_t>(6, CeilDiv(space.columns, file.lanes));
  for (int vectors = 1; vectors <= most_vectors; ++vectors) {
    const int most = (file.registers - 1 - vectors) / vectors;
    for (int rows = 1; rows <= std::min<int64_t>(most, space.rows); ++rows) {
      const int most_outer = rows == space.rows ? most / rows : 1;
      for (int o = 1; o <= std::min<int64_t>(most_outer, space.outer); ++o) {
        tiles.push_back({o, rows, vectors, 0});
        tiles.back().weight = Quality(space, file, tiles.back());
      }
    }
  }
  return tiles;
}

void SortByWeight(std::vector<RegisterTile>* tiles) {
  std::stable_sort(tiles->begin(), tiles->end(),
                   [](const RegisterTile& a, const RegisterTile& b) {
                     return a.weight > b.weight;
                   });
}

// The first `count`, with what their weights say made more of.
std::vector<RegisterTile> Best(std::vector<RegisterTile> tiles, int count) {
  if (static_cast<int>(tiles.size()) > count) tiles.resize(count);
  double total = 0;
  for (RegisterTile& tile : tiles) {
    tile.weight = std::pow(tile.weight, 4);
    total += tile.weight;
  }
  for (RegisterTile& tile : tiles) tile.weight /= total;
  return tiles;
}

// Loading a vector of a panel takes as long as the multiply-adds of this many
// rows.
constexpr double kPanelRows = 4.0 / 3;
// Of the best tile's weight, what the best of another width has to reach.
constexpr double kWidthWorth = 0.88;

std::vector<RegisterTile> PanelTiles(const TileSpace& space,
                                     const RegisterFile& file) {
  std::vector<RegisterTile> tiles = AllTiles(space, file);
  for (RegisterTile& tile : tiles) {
    const double rows = tile.outer_rows * tile.rows;
    tile.weight *= rows / (rows + kPanelRows);
  }
  SortByWeight(&tiles);
  return tiles;
}

}  // namespace

std::vector<RegisterTile> ChooseRegisterTiles(const TileSpace& space,
                                              const RegisterFile& file,
                                              int count) {
  std::vector<RegisterTile> tiles = AllTiles(space, file);
  SortByWeight(&tiles);
  return Best(std::move(tiles), count);
}

std::vector<int> PanelWidths(const TileSpace& space, const RegisterFile& file) {
  std::vector<int> widths;
  const std::vector<RegisterTile> tiles = PanelTiles(space, file);
  for (const RegisterTile& tile : tiles) {
    const bool known =
        std::find(widths.begin(), widths.end(), tile.vectors) != widths.end();
    if (known || tile.weight < kWidthWorth * tiles[0].weight) continue;
    widths.push_back(tile.vectors);
  }
  // A single vector has a load for each of its multiply-adds.
  if (widths.size() > 1) {
    widths.erase(std::remove(widths.begin(), widths.end(), 1), widths.end());
  }
  return widths;
}

std::vector<RegisterTile> ChoosePanelTiles(const TileSpace& space,
                                           const RegisterFile& file,
                                           int vectors, int count) {
  std::vector<RegisterTile> tiles = PanelTiles(space, file);
  const auto other = [&](const RegisterTile& tile) {
    return tile.vectors != vectors;
  };
  tiles.erase(std::remove_if(tiles.begin(), tiles.end(), other), tiles.end());
  return Best(std::move(tiles), count);
}

}  // namespace kiln
