// A tensor that the function allocates holds another type.
//
// unsafe_set_dtype: the type that is given.
//
//   B = T.alloc_buffer((128,))                     B[vi] = A[vi] * 2.0
//   =>  "float16"
//   B = T.alloc_buffer((128,), "float16")          B[vi] = T.Cast("float16",
//                                                              A[vi] * 2.0)
//   and who reads B[vi] reads T.Cast("float32", B[vi])
//
// Unsafe by name: values are rounded to the type, or wrap around in it, which
// no other primitive does. `buffer_index` counts the regions that the block
// writes. Refuses: a type that is no number; an index out of range; a tensor
// that no block allocates; one that is seen in its type elsewhere, by a view or
// by its address; a function whose numerics are strict.
#ifndef KILN_SCHEDULE_PRIMITIVE_SET_DTYPE_H_
#define KILN_SCHEDULE_PRIMITIVE_SET_DTYPE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

absl::StatusOr<Function> UnsafeSetDtype(const Function& f, BlockId block,
                                        int64_t buffer_index,
                                        std::string_view dtype);

absl::StatusOr<Function> HoistCast(const Function& f, BlockId block,
                                   int64_t buffer_index);

}  // namespace kiln

#endif  // KILN_SCHEDULE_PRIMITIVE_SET_DTYPE_H_
