#include "kiln/ir/transform/graph/winograd/matrices.h"

namespace kiln {
namespace {

// Interpolation at 0, 1, -1 and infinity.
const WinogradMatrices& TileOfTwo() {
  static const auto& matrices = *new WinogradMatrices{
      2,
      {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
      {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
      {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  return matrices;
}

// At 2 and -2, too.
const WinogradMatrices& TileOfFour() {
  static const auto& matrices =
      *new WinogradMatrices{4,
                            {{4, 0, -5, 0, 1, 0},
                             {0, -4, -4, 1, 1, 0},
                             {0, 4, -4, -1, 1, 0},
                             {0, -2, -1, 2, 1, 0},
                             {0, 2, -1, -2, 1, 0},
                             {0, 4, 0, -5, 0, 1}},
                            {{1.0 / 4, 0, 0},
                             {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                             {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                             {1.0 / 24, 1.0 / 12, 1.0 / 6},
                             {1.0 / 24, -1.0 / 12, 1.0 / 6},
                             {0, 0, 1}},
                            {{1, 1, 1, 1, 1, 0},
                             {0, 1, -1, 2, -2, 0},
                             {0, 1, 1, 4, 4, 0},
                             {0, 1, -1, 8, -8, 1}}};
  return matrices;
}

}  // namespace

const WinogradMatrices& WinogradMatricesOf(int tile) {
  return tile == 2 ? TileOfTwo() : TileOfFour();
}

}  // namespace kiln
