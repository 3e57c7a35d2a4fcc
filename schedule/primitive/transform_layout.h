// Changing the layout of a tensor.
#ifndef KILN_SCHEDULE_PRIMITIVE_TRANSFORM_LAYOUT_H_
#define KILN_SCHEDULE_PRIMITIVE_TRANSFORM_LAYOUT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

struct TransformLayoutOptions {
  // What padding holds: one output, over the new indices or over no inputs.
  std::optional<IndexMap> pad_value;
  // Allows padding that nobody writes. The map still has to be injective.
  bool assume_injective_transform = false;
};

// Stores the `index`-th tensor that `block` reads (or writes) by other
// indices, everywhere:
//
//   for k, j: P[k, j] = B[k, j]          lambda k, j: (j // 16, k, j % 16)
//   for i, j, k: C[i, j] += A[i, k] * P[k, j]
//     ->
//   for k, j: P[j // 16, k, j % 16] = B[k, j]
//   for i, j, k: C[i, j] += A[i, k] * P[j // 16, k, j % 16]
//
// A parameter changes its shape in the signature. Where the new shape holds
// elements that the old one has not, `pad_value` says what they get: loops that
// do nothing but write the tensor from its first to its last index run over
// the new shape instead (axis0, axis1, ...) and choose the value; otherwise a
// block `buffer_NAME_padding` writes the padding; a parameter that is only read
// is assumed to hold it. Nobody reads padding afterwards.
//
// Refuses a map that may give two indices the same place, padding without a
// value, and tensors that are used by address, through views, or as vectors.
absl::StatusOr<Function> TransformLayout(
    const Function& f, BlockId block, int index, bool is_write,
    const IndexMap& map, const TransformLayoutOptions& options = {});

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_TRANSFORM_LAYOUT_H_
