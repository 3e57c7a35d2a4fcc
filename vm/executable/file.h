// Executables in files.
//
//   "KILNEXE\n", version (uint32), 0 (uint32), bytes of the message (uint64),
//   its SHA-256, the message (executable.proto), zeros up to a multiple of 64,
//   then the blobs, each at a multiple of 64
//
// all little-endian. A file is mapped: constants are read from disk when they
// are used first.
#ifndef KILN_VM_EXECUTABLE_FILE_H_
#define KILN_VM_EXECUTABLE_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/blob.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln::vm {

inline constexpr uint32_t kExecutableVersion = 1;

std::string Serialize(const Executable& executable);

// Accepts any bytes: what is no executable, of another version, damaged (the
// message or an object is not what its digest says) or does not verify is
// kInvalidArgument. Constants are not compared with their digests.
absl::StatusOr<Executable> Parse(const Blob& bytes);

// Replaces the file as a whole.
absl::Status WriteExecutable(const Executable& executable,
                             const std::string& path);
// The message begins with the path. kNotFound for a missing file.
absl::StatusOr<Executable> ReadExecutable(const std::string& path);

// Whether the bytes begin as an executable does.
bool IsExecutable(std::string_view bytes);

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_FILE_H_
