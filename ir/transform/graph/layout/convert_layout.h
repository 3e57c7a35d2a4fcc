// Convolutions in the layouts that a machine likes.
//
//   y = R.nn.conv2d(x, w)        x1 = R.permute_dims(x, axes=[0, 2, 3, 1])
//   z = R.nn.relu(y)             w1 = R.permute_dims(w, axes=[0, 2, 3, 1])
//                                y = R.nn.conv2d(x1, w1, data_layout="NHWC",
//                                                kernel_layout="OHWI")
//                                z1 = R.nn.relu(y)
//                                z = R.permute_dims(z1, axes=[0, 3, 1, 2])
#ifndef KILN_IR_TRANSFORM_GRAPH_LAYOUT_CONVERT_LAYOUT_H_
#define KILN_IR_TRANSFORM_GRAPH_LAYOUT_CONVERT_LAYOUT_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {

// Gives the convolutions in dataflow blocks the layouts desired for their ops,
// where channels divide into the parts that these have, and lets other ops
// follow as far as they have rules. Tensors are brought from one layout to
// another at the borders alone; what leaves a block stands as before. A tensor
// that several calls want in one other layout is brought there for each of
// them: "cse" joins these.
//
// The module is inferred, and so is the result. InvalidArgument for an op that
// is no convolution and for layouts that are not of its axes.
absl::StatusOr<Module> ConvertLayout(const Module& module,
                                     const DesiredLayouts& desired);

// conv2d to NHWC with kernels OHWI.
absl::StatusOr<Module> ConvertLayoutToNhwc(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LAYOUT_CONVERT_LAYOUT_H_
