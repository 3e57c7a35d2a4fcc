// Ops that normalize, as the ops that they consist of, which fuse with what
// stands around them:
//
//   t = R.nn.batch_norm(x, gamma, beta, mean, variance, axis=1)
//
//   m = R.expand_dims(mean, axis=[0, 2, 3])     s = R.sqrt(R.add(v, epsilon))
//   d = R.subtract(x, m)                        ...
//   t = (y, mean, variance)
#ifndef KILN_IR_TRANSFORM_GRAPH_DECOMPOSE_H_
#define KILN_IR_TRANSFORM_GRAPH_DECOMPOSE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// For a network that is used: batch norms take the moving moments, whatever
// their attribute `training` says, and leave them as they are. Takes a module
// with struct info.
absl::StatusOr<Module> DecomposeForInference(const Module& module);

// For a network that learns: batch norms with `training` take the moments of
// the batch, and the moving ones follow them; layer norms are decomposed, too.
// The module computes what it did. Takes a module with struct info.
absl::StatusOr<Module> DecomposeForTraining(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_DECOMPOSE_H_
