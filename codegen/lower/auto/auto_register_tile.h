#ifndef KILN_CODEGEN_LOWER_AUTO_AUTO_REGISTER_TILE_H_
#define KILN_CODEGEN_LOWER_AUTO_AUTO_REGISTER_TILE_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Gives nests of loops around one update the vectors and the accumulators that
// their schedule left unused, where choose_tile.h finds a much better tile:
//
//   for i in 16:                         for i_o in 2:
//     for k in 8:                          acc[0:128] = C[...]
//       for j in vectorized(16):    →      for k in 8:
//         C[i, j] += A[i, k] * B[k, j]       for i in unrolled(8):
//                                              for j in vectorized(16):
//                                                acc[i*16 + j] += ...
//                                          C[...] = acc[0:128]
//
// Loops over reductions keep their order, so each element is accumulated as
// before. Where the tile does not divide a loop, what is left over becomes a
// second nest. Nests without an update only get wider vectors.
absl::StatusOr<Function> AutoRegisterTile(Function f, const Machine& machine);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_AUTO_AUTO_REGISTER_TILE_H_
