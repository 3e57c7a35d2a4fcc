// Whole files, and paths as the caller of `bazel run` means them.
#ifndef KILN_BASE_FILE_H_
#define KILN_BASE_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// The largest file that ReadFile accepts: 4 GiB.
inline constexpr size_t kMaxFileBytes = size_t{4} << 30;

// The contents of a file. Fails with NotFound, PermissionDenied or another code
// of errno, with FailedPrecondition for a folder, and with ResourceExhausted
// for more than `max_bytes`; the message names the path and the reason.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     size_t max_bytes = kMaxFileBytes);

// As ReadFile, and "-" is the standard input, which a process reads once.
absl::StatusOr<std::string> ReadFileOrStdin(const std::string& path,
                                            size_t max_bytes = kMaxFileBytes);

// Writes a file as a whole: whoever reads `path`, at any moment and after any
// kill, finds either the old contents or the new ones. The bytes go to a
// temporary file in the same folder, which is synced and renamed.
absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view contents);

// Makes a folder and those above it. It is no error that it exists.
absl::Status MakeFolders(const std::string& path);

// A relative path below the folder where the user typed the command: `bazel
// run` starts a program elsewhere and names that folder in
// BUILD_WORKING_DIRECTORY. Absolute paths and "-" stay as they are.
std::string CallerPath(std::string_view path);

}  // namespace kiln

#endif  // KILN_BASE_FILE_H_
