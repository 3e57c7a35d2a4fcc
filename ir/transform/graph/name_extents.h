// Extents that are known in number only get names, so that what is computed
// from them has extents.
//
//   def main(x: R.Tensor((6,), "float32"), s: R.Shape(ndim=2)):
//     y: R.Tensor(s, "float32") = R.reshape(x, s)
//
//   def main(x: R.Tensor((6,), "float32"), s: R.Shape(ndim=2)):
//     shape: R.Shape([s_0, s_1]) = R.match_cast(s, R.Shape([s_0, s_1]))
//     y: R.Tensor((s_0, s_1), "float32") = R.reshape(x, R.shape([s_0, s_1]))
#ifndef KILN_IR_TRANSFORM_GRAPH_NAME_EXTENTS_H_
#define KILN_IR_TRANSFORM_GRAPH_NAME_EXTENTS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info, and gives one. Parameters and bindings that
// are shapes of known rank, or tensors of known rank and type, are cast;
// bindings only where what they are computed from has extents, since theirs
// follow otherwise.
absl::StatusOr<Module> NameExtents(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_NAME_EXTENTS_H_
