// Convolutions with 3x3 taps by Winograd's methods (matrices.h), in graph
// functions that allow errors which are only small beside the largest elements
// of the operands:
//
//   R.func_attr({"numerics": "normwise"})                (ir/tensor/numerics.h)
//
//   y = R.nn.conv2d(x, W, ...)  →  V = R.call_tir(cls.winograd_input, (x,))
//                                  M = R.call_tir(cls.winograd_product, (V, U))
//                                  y = R.call_tir(cls.winograd_output, (M,))
//
// with U as a constant. Of float32 in steps of one, no dilation, one group,
// NHWC by HWIO, the kernel a constant whose bytes are known, padding as it
// may be; the batch and the image may be symbolic.
#ifndef KILN_IR_TRANSFORM_GRAPH_WINOGRAD_WINOGRAD_H_
#define KILN_IR_TRANSFORM_GRAPH_WINOGRAD_WINOGRAD_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/winograd/transforms.h"

namespace kiln {

// The tile that is estimated to be fastest: 2, 4, or 0 for the sums
// themselves. Symbolic extents are taken for large ones.
int FastestTile(const TiledConvolution& conv);

struct WinogradOptions {
  // 0: the one that is estimated to be fastest, if any; 2 or 4: always this.
  int tile = 0;
};

// Takes a module that is inferred.
absl::StatusOr<Module> UseWinograd(const Module& module,
                                   const WinogradOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_WINOGRAD_WINOGRAD_H_
