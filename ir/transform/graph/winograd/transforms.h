// The three tensor functions that a convolution with 3x3 taps becomes:
//
//   V[t, p, i] = input transform of tile t of x           p in 0 .. (m+2)^2
//   M[t, p, o] = sum over i of V[t, p, i] * U[p, i, o]     U: of the kernel
//   y[n, h, w, o] = output transform of M
//
// Tiles of m x m results are counted row by row, image by image; those at the
// end may reach over it. The channels stand last everywhere; V and M have room
// for one point more.
#ifndef KILN_IR_TRANSFORM_GRAPH_WINOGRAD_TRANSFORMS_H_
#define KILN_IR_TRANSFORM_GRAPH_WINOGRAD_TRANSFORMS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A convolution of float32 (n, h, w, i) by (3, 3, i, o) in steps of one.
struct TiledConvolution {
  int tile = 4;  // m: 2 or 4
  Expr batch, height, width;
  int64_t above = 0, left = 0;  // rows and columns of padding ahead
  Expr out_height, out_width;
  int64_t in_channels = 0, out_channels = 0;

  Expr tile_rows() const;
  Expr tile_columns() const;
  Expr tiles() const;  // of all images
};

// Calls of the functions, which `module` gets; equal ones are shared.
absl::StatusOr<graph::Expr> CallInputTransform(const TiledConvolution& conv,
                                               const graph::Expr& x,
                                               Module& module);
absl::StatusOr<graph::Expr> CallProducts(const TiledConvolution& conv,
                                         const graph::Expr& inputs,
                                         const graph::Expr& kernels,
                                         Module& module);
absl::StatusOr<graph::Expr> CallOutputTransform(const TiledConvolution& conv,
                                                const graph::Expr& products,
                                                Module& module);

// U for the elements of a (3, 3, i, o) kernel: a constant ((m+2)^2, i, o), of
// which each element is rounded once.
absl::StatusOr<graph::Expr> TransformedKernel(const TiledConvolution& conv,
                                              const graph::ConstantNode& taps);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_WINOGRAD_TRANSFORMS_H_
