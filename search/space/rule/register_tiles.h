// Register tiles worth trying: rows by vectors of accumulators. Where a tile
// has all rows that there are, it may have some of the next ones above, as
// several lines of a small image.
#ifndef KILN_SEARCH_SPACE_RULE_REGISTER_TILES_H_
#define KILN_SEARCH_SPACE_RULE_REGISTER_TILES_H_

#include <cstdint>
#include <vector>

#include "kiln/base/machine.h"

namespace kiln {

struct RegisterTile {
  int outer_rows;
  int rows;
  int vectors;
  double weight;  // of all together: 1
};

// An output: `outer` times `rows` by `columns` elements.
struct TileSpace {
  int64_t outer = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  // 0: vectors of an operand are for all rows. Else each lane has operands of
  // its own, as in a depthwise convolution of so many taps.
  int64_t taps = 0;
};

// Tiles of the output, the best first, at most `count`. Weighed by what an
// iteration computes for its loads (each row needs a broadcast and each vector
// a load, of which a core does two at a time beside two multiply-adds), and by
// how little is left over at the ends. Where lanes have operands of their own,
// several rows of rows share what they read, taps that fit stay in registers,
// and there are some tiles of each width, since it depends on the steps between
// rows in memory how many lines of one the nearest cache can hold.
std::vector<RegisterTile> ChooseRegisterTiles(const TileSpace& space,
                                              const VectorRegisters& file,
                                              int count);

// The same over an operand that lies ready in panels as wide as the tile. These
// come from the second cache, so that each of their vectors had better be used
// for many rows. `PanelWidths` are the widths worth trying, in vectors, the
// best first; `ChoosePanelTiles` the tiles of one width.
std::vector<int> PanelWidths(const TileSpace& space,
                             const VectorRegisters& file);
std::vector<RegisterTile> ChoosePanelTiles(const TileSpace& space,
                                           const VectorRegisters& file,
                                           int vectors, int count);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_REGISTER_TILES_H_
