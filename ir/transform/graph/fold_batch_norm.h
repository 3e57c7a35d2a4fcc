// A batch norm behind a convolution becomes part of the convolution, for a
// network that is used: its moments are the moving ones.
//
//   y = R.nn.conv2d(x, w)              s = gamma / sqrt(variance + epsilon)
//   t = R.nn.batch_norm(y, ...)        y = R.nn.conv2d(x, w * s)
//   z = t[0]                           z = y + (beta - mean * s)
//
// s has one number for each output channel; it and the new weight are computed
// ahead by fold_constants or lift_transform_params.
#ifndef KILN_IR_TRANSFORM_GRAPH_FOLD_BATCH_NORM_H_
#define KILN_IR_TRANSFORM_GRAPH_FOLD_BATCH_NORM_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class FoldedNorms {
  kAll,    // whatever their attribute `training` says
  kFixed,  // those with training=False; the module computes what it did
};

// Takes a module with struct info. Convolutions of 1 to 3 dimensions, in any
// layouts that do not split channels, whose result only the batch norm reads.
// Of that, only the fields may be read: the moving moments stay as they are.
absl::StatusOr<Module> FoldBatchNorm(const Module& module,
                                     FoldedNorms norms = FoldedNorms::kAll);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FOLD_BATCH_NORM_H_
