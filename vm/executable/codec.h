// Executables as messages (executable.proto), and back.
#ifndef KILN_VM_EXECUTABLE_CODEC_H_
#define KILN_VM_EXECUTABLE_CODEC_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/blob.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/executable.pb.h"

namespace kiln::vm {

// Fills `message` but for its blobs, which it names by their position in
// `blobs`; equal blobs are one.
void ToMessage(const Executable& executable, vm_proto::Executable* message,
               std::vector<Blob>* blobs);

// The executable that a message says, not verified. `blob(i)` gives the bytes
// of the i-th blob, an error where there is none.
absl::StatusOr<Executable> FromMessage(
    const vm_proto::Executable& message,
    const std::function<absl::StatusOr<Blob>(uint32_t)>& blob);

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_CODEC_H_
