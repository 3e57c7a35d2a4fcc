// A step of a tile of r rows and v vectors multiplies and adds r*v vectors, for
// which it loads v vectors and broadcasts r elements. A core does two of each
// in a cycle, so loads are hidden where r + v <= r*v, and a little is lost to
// them anyway; fewer than eight sums wait for each other. With AVX-512, for 49
// rows of 64 columns:
//
//   r  v   sums  loads   of a step   rows used   columns used   quality
//   7  2    14     9       0.94        49/49        64/64         0.94
//   6  4    24    10       0.96        49/54        64/64         0.87
//   14 2    28    16       0.95        49/56        64/64         0.83
//   8  3    24    11       0.96        49/56        64/96         0.56
//
// Tiles that need more registers than there are do not come up at all. The best
// are returned with weights, by which the search draws them; what the model
// does not know (caches, alignment) is for measurements to tell.
#include "kiln/search/space/rule/register_tiles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kiln/base/lowering_policy.h"

namespace kiln {
namespace {

// Rows of rows over operands of their own: more are more streams than a core
// follows.
constexpr int64_t kMostLanewiseOuter = 2;

// A single row, as of a mean over an image, has no other sums to wait for, and
// is read in one piece the better the wider it is.
constexpr int64_t kMostVectors = 6, kMostVectorsOfOneRow = 12;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The share of the tiles' elements that are wanted.
double Use(int64_t extent, int64_t tile) {
  return static_cast<double>(extent) / (CeilDiv(extent, tile) * tile);
}

// What a tile computes for its steps: each of its sums, unless loads take
// longer.
double PerStep(double sums, double loads, double least) {
  return sums / (std::max({sums, loads, least}) + 0.1 * loads);
}

double QualityOfShared(const RegisterTile& tile) {
  const int rows = tile.outer_rows * tile.rows;
  // Eight chains hide the latency of multiply-adds; loads run beside them.
  return PerStep(rows * tile.vectors, rows + tile.vectors, 8);
}

// Of all taps together.
double QualityOfLanewise(const TileSpace& space, const VectorRegisters& file,
                         const RegisterTile& tile) {
  const double sums = tile.outer_rows * tile.rows * tile.vectors;
  const double taps = space.taps;
  const double around = std::sqrt(taps) - 1;
  const double inputs =
      tile.vectors * (tile.outer_rows + around) * (tile.rows + around);
  const bool taps_stay = sums + tile.vectors * taps + 1 <= file.ForTiles();
  return PerStep(sums * taps, inputs + (taps_stay ? 0 : sums * taps), 8 * taps);
}

double Quality(const TileSpace& space, const VectorRegisters& file,
               const RegisterTile& tile) {
  const double quality = space.taps > 0 ? QualityOfLanewise(space, file, tile)
                                        : QualityOfShared(tile);
  return quality * Use(space.outer, tile.outer_rows) *
         Use(space.rows, tile.rows) *
         Use(space.columns, tile.vectors * file.Floats());
}

// The most rows of a tile that leaves registers for operands: one for a
// broadcast and one for each vector, or a few that change.
int MostRows(const TileSpace& space, const VectorRegisters& file, int vectors) {
  const int64_t operands = OperandRegisters(space.taps > 0 ? 1 : vectors);
  return static_cast<int>((file.ForTiles() - operands) / vectors);
}

// The most rows of rows: of some rows only where they share operands.
int64_t MostOuter(const TileSpace& space, int most_rows, int rows) {
  const int64_t most = std::min<int64_t>(most_rows / rows, space.outer);
  if (space.taps > 0) return std::min(most, kMostLanewiseOuter);
  return rows == space.rows ? most : 1;
}

std::vector<RegisterTile> AllTiles(const TileSpace& space,
                                   const VectorRegisters& file) {
  std::vector<RegisterTile> tiles;
  const bool one_row = space.rows == 1 && space.outer == 1;
  const int most_vectors =
      std::min<int64_t>(one_row ? kMostVectorsOfOneRow : kMostVectors,
                        CeilDiv(space.columns, file.Floats()));
  for (int vectors = 1; vectors <= most_vectors; ++vectors) {
    const int most = MostRows(space, file, vectors);
    for (int rows = 1; rows <= std::min<int64_t>(most, space.rows); ++rows) {
      for (int o = 1; o <= MostOuter(space, most, rows); ++o) {
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

// The first of each width, as many of each as come to `count`.
void KeepSomeOfEachWidth(std::vector<RegisterTile>* tiles, int count) {
  std::map<int, int> of_width;
  for (const RegisterTile& tile : *tiles) ++of_width[tile.vectors];
  const int most = count / static_cast<int>(of_width.size());
  of_width.clear();
  std::erase_if(*tiles, [&](const RegisterTile& tile) {
    return ++of_width[tile.vectors] > std::max(1, most);
  });
}

// Where columns are no whole vectors, tiles over padding that do not divide the
// rows either would need more copies of themselves than lowering makes: of
// 28 x 28 x 9 elements, tiles of 6 columns take seven times as long as of 7.
void KeepThoseThatDivide(const TileSpace& space, const VectorRegisters& file,
                         std::vector<RegisterTile>* tiles) {
  const auto leaves_rest = [&](const RegisterTile& tile) {
    return space.rows % tile.rows != 0 || space.outer % tile.outer_rows != 0;
  };
  if (space.columns % file.Floats() == 0) return;
  std::vector<RegisterTile> dividing = *tiles;
  std::erase_if(dividing, leaves_rest);
  if (!dividing.empty()) *tiles = std::move(dividing);
}

// The first `count`, with what their weights say made more of by `power`.
std::vector<RegisterTile> Best(std::vector<RegisterTile> tiles, int count,
                               double power = 4) {
  if (static_cast<int>(tiles.size()) > count) tiles.resize(count);
  double total = 0;
  for (RegisterTile& tile : tiles) {
    tile.weight = std::pow(tile.weight, power);
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
                                     const VectorRegisters& file) {
  std::vector<RegisterTile> tiles = AllTiles(space, file);
  for (RegisterTile& tile : tiles) {
    const double rows = tile.outer_rows * tile.rows;
    tile.weight *= rows / (rows + kPanelRows);
  }
  SortByWeight(&tiles);
  return tiles;
}

// Where nothing wider divides the columns well, as 5 or 7 vectors of them, the
// best of the wider panels, and those that are as wide as the best tile over an
// operand that lies near: all columns at once, say.
void AddWiderPanels(const TileSpace& space, const VectorRegisters& file,
                    const std::vector<RegisterTile>& panels,
                    std::vector<int>* widths) {
  std::vector<RegisterTile> near = AllTiles(space, file);
  SortByWeight(&near);
  for (const std::vector<RegisterTile>& tiles : {panels, near}) {
    const auto wider =
        std::find_if(tiles.begin(), tiles.end(), [&](const RegisterTile& tile) {
          return std::find(widths->begin(), widths->end(), tile.vectors) ==
                 widths->end();
        });
    if (wider != tiles.end()) widths->push_back(wider->vectors);
  }
}

}  // namespace

std::vector<RegisterTile> ChooseRegisterTiles(const TileSpace& space,
                                              const VectorRegisters& file,
                                              int count) {
  std::vector<RegisterTile> tiles = AllTiles(space, file);
  SortByWeight(&tiles);
  if (space.taps == 0) return Best(std::move(tiles), count);
  KeepThoseThatDivide(space, file, &tiles);
  KeepSomeOfEachWidth(&tiles, count);
  return Best(std::move(tiles), count, /*power=*/1);
}

std::vector<int> PanelWidths(const TileSpace& space,
                             const VectorRegisters& file) {
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
  } else if (widths[0] == 1) {
    AddWiderPanels(space, file, tiles, &widths);
  }
  return widths;
}

std::vector<RegisterTile> ChoosePanelTiles(const TileSpace& space,
                                           const VectorRegisters& file,
                                           int vectors, int count) {
  std::vector<RegisterTile> tiles = PanelTiles(space, file);
  const auto other = [&](const RegisterTile& tile) {
    return tile.vectors != vectors;
  };
  tiles.erase(std::remove_if(tiles.begin(), tiles.end(), other), tiles.end());
  return Best(std::move(tiles), count);
}

}  // namespace kiln
