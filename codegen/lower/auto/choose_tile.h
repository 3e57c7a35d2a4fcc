// Which iterations of a nest share the vector registers.
#ifndef KILN_CODEGEN_LOWER_AUTO_CHOOSE_TILE_H_
#define KILN_CODEGEN_LOWER_AUTO_CHOOSE_TILE_H_

#include <optional>
#include <vector>

#include "kiln/base/machine.h"
#include "kiln/codegen/lower/auto/nest.h"

namespace kiln::lower {

// Some iterations of each loop of a nest, innermost and unrolled.
struct RegisterTile {
  // For each loop: how many of its iterations are in the tile. Reductions: 1.
  // At most one does not divide the extent.
  std::vector<int64_t> factors;
  // Loops with consecutive elements, all of whose tile is one vector; the
  // first has stride 1.
  std::vector<int> chain;
  int64_t lanes = 1;
  // What is left of the loops, outermost first: loops of which the tile has
  // all are not in it.
  std::vector<int> order;
  // The loops at the end of `order` that are reductions: they run while the
  // tile is in registers.
  int inner_reductions = 0;
};

// The tile that a simple model of loads, arithmetic and registers finds best;
// nullopt where no tile suits or the nest does nearly as well as it stands.
std::optional<RegisterTile> ChooseTile(const Nest& nest,
                                       const Machine& machine);

// Cycles for each element and step, with the better of that tile and the
// nest as it stands; infinity where no vector suits.
double EstimateCycles(const Nest& nest, const Machine& machine);

// How many elements in a row the loops of the nest store, and load where what
// they load varies with them.
int64_t ConsecutiveElements(const Nest& nest);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_CHOOSE_TILE_H_
