// Several tensors by name, in files of NumPy's .npz format: a zip archive of
// .npy files (npy.h), plain or deflated.
#ifndef KILN_VM_NDARRAY_NPZ_H_
#define KILN_VM_NDARRAY_NPZ_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// NOT_FOUND for a missing file, INVALID_ARGUMENT for one that is no archive, is
// damaged, or holds something that is no .npy file; the message begins with the
// path.
absl::StatusOr<std::map<std::string, NDArray>> ReadNpz(const std::string& path);

// Replaces the file. Tensors are stored plain, as numpy.savez does.
absl::Status WriteNpz(const std::map<std::string, NDArray>& arrays,
                      const std::string& path);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_NPZ_H_
