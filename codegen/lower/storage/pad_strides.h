#ifndef KILN_CODEGEN_LOWER_STORAGE_PAD_STRIDES_H_
#define KILN_CODEGEN_LOWER_STORAGE_PAD_STRIDES_H_

#include <unordered_map>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The note that storage_align leaves on a block, as lists [tensor, axis,
// factor, offset] with the tensor's place in T.writes; and, without the tensor,
// what an Allocate carries of it.
inline constexpr char kStrideNote[] = "buffer_dim_align";

// What the notes of all blocks of `f` ask of each tensor that a block
// allocates: a list of [axis, factor, offset]. Refuses, with the names of block
// and tensor, notes that are no such lists, that speak of a tensor that is not
// so allocated (a parameter's strides are its caller's), or has strides of its
// own, and those that contradict each other.
absl::StatusOr<std::unordered_map<const BufferNode*, AttrList>> StrideNotes(
    const Function& f);

// Gives the tensors of Allocate statements with such a list strides, so that
// the stride of dimension `axis` is `offset` modulo `factor`:
//
//   B = T.decl_buffer((8, 6)), [[0, 16, 4]]  →  strides (20, 1)
//
// Outer strides grow with the inner ones. Refuses more elements than an index
// counts. Expects no blocks.
absl::StatusOr<Function> PadStrides(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_STORAGE_PAD_STRIDES_H_
