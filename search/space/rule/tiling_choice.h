// How a sum over an output with a contiguous axis may be tiled: which axes make
// the register tile, and ways to treat the operand that all its rows share.
#ifndef KILN_SEARCH_SPACE_RULE_TILING_CHOICE_H_
#define KILN_SEARCH_SPACE_RULE_TILING_CHOICE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/register_tiles.h"

namespace kiln {

// Which axes of a block make the tile; -1: none.
struct TileAxes {
  int column = -1;     // contiguous in the output
  int row = -1;        // next to the columns
  int outer_row = -1;  // next to the rows
  int unroll = -1;     // the innermost reduction
  // Of each element two sums, of the even steps and of the odd ones, which lie
  // side by side in vectors (paired_sums.h).
  int pair = -1;
  // Of the innermost reduction, those that an instruction takes at a time
  // (dot_steps.h).
  int dot_steps = 1;
};
inline constexpr int64_t kStepsOfPair = 2;
// Steps that lie side by side in panels.
inline int64_t StepsTogether(const TileAxes& axes) {
  return axes.pair < 0 ? axes.dot_steps : kStepsOfPair;
}
// Lanes that a column takes of a vector.
inline int64_t LanesOfColumn(const TileAxes& axes) {
  return axes.pair < 0 ? 1 : kStepsOfPair;
}
// nullopt where the output has no contiguous axis worth a vector, or nothing is
// summed up.
std::optional<TileAxes> ChooseTileAxes(const BlockInfo& info);

struct TilingChoice {
  std::optional<ReadInfo> packed;  // the operand to pack first
  bool columns_first = false;      // all rows for some columns, then the next
  // The shared operand, to be read once from its beginning to its end: blocks
  // of its rows are used for all there is before the next. The sums wait in
  // the output.
  std::optional<ReadInfo> streamed;
  int vectors = 0;  // of a panel, and of a tile; 0: 1, and open
  // Each panel, or its part in a block of rows, is packed just before it is
  // used, and only then.
  bool near = false;
  // Those of an outer iteration are packed together, from whole rows.
  bool near_together = false;
  int panels = 1;  // side by side in a tile, where `vectors` is not open
  // Columns are not blocked: an outer iteration has one tile of them. How many
  // tiles there are is open.
  bool unblocked = false;
  int64_t tallest = 0;  // rows that a block of `streamed` may well have
};
// The ways worth trying, what needs no packing first. `near_bytes` of operands
// may wait in the second-level cache.
std::vector<TilingChoice> TilingChoices(const BlockInfo& info,
                                        const TileAxes& axes,
                                        const VectorRegisters& registers,
                                        int64_t near_bytes);

// A large constant matrix that a single row is multiplied with, or one of a
// batch of them, each with a row of its own. It comes as a few streams.
std::optional<ReadInfo> ConstantUsedOnce(const BlockInfo& info,
                                         const TileAxes& axes);

// Whether every step along `axis` moves operands alike, as steps from phase to
// phase of a transposed convolution do not.
bool MovesEvenly(const BlockInfo& info, int axis);

// Whether the columns fill a line of a cache.
bool FillsLines(const BlockInfo& info, const TileAxes& axes);

// Whether rows of the operand hold the columns of several groups, of which a
// step along another axis than the columns goes to the next.
bool HoldsOtherColumns(const BlockInfo& info, const TileAxes& axes,
                       const ReadInfo& operand);

// Elements from a step along the dimension to the next.
double StepOf(const ReadInfo& operand, int dim);

// The dimension of the operand through which `axis` goes step by step; -1:
// none.
int DimAlong(const ReadInfo& operand, int axis);

// The lanes of a vector for so many columns: those of a register, or fewer.
int64_t LanesFor(int64_t columns, const VectorRegisters& file);
// The same for the tiles of a block.
int64_t LanesOf(const BlockInfo& info, const TileAxes& axes,
                const VectorRegisters& file);
TileSpace TileSpaceOf(const BlockInfo& info, const TileAxes& axes);
VectorRegisters FileFor(const TileSpace& space, VectorRegisters file);

}  // namespace kiln

#endif  // KILN_SEARCH_SPACE_RULE_TILING_CHOICE_H_
