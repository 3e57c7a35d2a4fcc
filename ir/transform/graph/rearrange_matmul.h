// Products in another arrangement.
#ifndef KILN_IR_TRANSFORM_GRAPH_REARRANGE_MATMUL_H_
#define KILN_IR_TRANSFORM_GRAPH_REARRANGE_MATMUL_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// All take modules with struct info, and round otherwise than before at most.

// x @ (A + B), or of the transposed sum: x @ A + x @ B.
absl::StatusOr<Module> ExpandMatmulOfSum(const Module& module);

// x @ W[:, indices]: (x @ W)[..., indices].
absl::StatusOr<Module> ReorderTakeAfterMatmul(const Module& module);

// concat(A.T, B.T): concat(A, B).T, for any permutation that all share.
absl::StatusOr<Module> ReorderPermuteDimsAfterConcat(const Module& module);

// permute_dims of what permute_dims gives: one of them, or none.
absl::StatusOr<Module> ComposePermuteDims(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_REARRANGE_MATMUL_H_
