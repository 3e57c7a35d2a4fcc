// Scheduled programs for tests of lowering, and the comparison of a function
// with what it was lowered to.
#ifndef KILN_CODEGEN_LOWER_SAMPLE_PROGRAMS_H_
#define KILN_CODEGEN_LOWER_SAMPLE_PROGRAMS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::lower {

// A tiled matmul C[m, n] = sum A[m, k] * B[k, n] in float32. Tiles that do not
// divide the extents get predicates.
struct MatmulTiling {
  int64_t m = 12, n = 128, k = 8;
  int64_t rows = 6, vectors = 4, lanes = 16;  // the register tile
  int64_t k_inner = 1;
  bool decompose = true;                // init in a block of its own
  bool local_accumulator = true;        // in a write cache, else in C itself
  ForKind row_loop = ForKind::kSerial;  // of the outermost loop
  ForKind tile_loop = ForKind::kUnrolled;
};
Function TiledMatmul(const MatmulTiling& tiling);

// A 2-d convolution of one channel with zero padding by if_then_else, with its
// rows split by `row_tile` and its columns vectorized by `lanes`.
Function PaddedConv(int64_t height, int64_t width, int64_t taps, int64_t pad,
                    int64_t row_tile, int64_t lanes);

// Runs `f` and `lowered` in the interpreter on the same random small integers
// (symbolic dimensions are not supported), and compares all parameters.
absl::Status CompareMeaning(const Function& f, const Function& lowered,
                            uint64_t seed);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_SAMPLE_PROGRAMS_H_
