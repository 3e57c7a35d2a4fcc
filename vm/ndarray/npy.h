// Tensors in files of NumPy's .npy format.
//
// Reads versions 1 to 3 of the format; little-endian float16, float32, float64,
// int8 to int64, uint8 to uint64 and bool. Fortran order is rearranged into
// row-major order. Big-endian data, records, strings and Python objects are
// refused; nothing in a file is ever executed.
#ifndef KILN_VM_NDARRAY_NPY_H_
#define KILN_VM_NDARRAY_NPY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// NOT_FOUND for a missing file, INVALID_ARGUMENT for one that is no .npy file,
// is cut short, has bytes left over, or holds an unsupported type. The message
// begins with the path.
absl::StatusOr<NDArray> ReadNpy(const std::string& path);

// The same from memory; `name` takes the place of the path in messages.
absl::StatusOr<NDArray> ParseNpy(std::string_view bytes,
                                 const std::string& name);

// Writes version 1.0. bfloat16 is refused: NumPy has no such type.
absl::Status WriteNpy(const NDArray& array, const std::string& path);
absl::StatusOr<std::string> FormatNpy(const NDArray& array);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_NPY_H_
