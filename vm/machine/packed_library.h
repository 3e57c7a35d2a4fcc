// Packed functions of a shared object (packed_abi.h).
#ifndef KILN_VM_MACHINE_PACKED_LIBRARY_H_
#define KILN_VM_MACHINE_PACKED_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/vm/machine/function_table.h"

namespace kiln::vm {

// The functions that the shared object at `path` exports. It stays open for as
// long as one of them is held. Errors name the path: NOT_FOUND for no such
// file, INVALID_ARGUMENT for one that is no such library or is made for another
// version of the interface.
absl::StatusOr<FunctionTable> OpenPackedLibrary(const std::string& path);

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_PACKED_LIBRARY_H_
