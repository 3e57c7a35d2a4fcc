#ifndef KILN_CODEGEN_LOWER_BLOCKS_PLACE_BUFFERS_H_
#define KILN_CODEGEN_LOWER_BLOCKS_PLACE_BUFFERS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Turns the alloc_buffers of blocks into Allocate statements, each around the
// body of the innermost loop or block that holds every access and carries no
// value of the buffer from one iteration to the next:
//
//   block root: alloc C                    for i (parallel):
//     for i (parallel):                      allocate C:
//       for k: block(C[i] += ...)      →       for k: ...
//       block(D[i] = C[i])                     ...
//
// A loop carries the buffer when a block that writes it binds a reduce or
// opaque iterator to the loop, or when statements outside of any iterated block
// use the buffer inside the loop. A buffer that nothing uses is dropped. What
// storage_align noted on blocks stands on the Allocate afterwards, or is
// refused (pad_strides.h).
absl::StatusOr<Function> PlaceBuffers(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_PLACE_BUFFERS_H_
