// Whoever opens a path must never find half a file, neither while it is being
// written nor after a kill or a power failure. A rename replaces a name in one
// step, but only within one file system; hence the temporary file lies beside
// its target. Its bytes reach the disk before the rename does, so that the name
// never leads to contents that are lost, and the folder is synced last:
//
//   WriteFileAtomically("db/a.json", ...) in process 4711
//     open    db/a.json.4711-0.tmp    O_EXCL: no other writer has it
//     write, fchmod, fsync            with the permissions of the old file
//     rename  to db/a.json
//     fsync   db
//
// Of two writers at once, the last to rename wins, with its whole file. A kill
// before the rename leaves the old file, and the temporary one beside it, which
// nobody removes. Where the path is a link, the link is replaced.
//
// When a file is read, its size is only a hint: reading goes on to the end, so
// that pipes and files that grow are read as well.
#include "kiln/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

absl::Status Failed(int error, std::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat(std::string(what), " ", path));
}

absl::Status TooLarge(const std::string& path, size_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot read ", path, ": more than ", max_bytes, " bytes"));
}

// Reads to the end, in pieces, so that pipes and sizes that change are no
// special case.
absl::StatusOr<std::string> ReadAll(int fd, const std::string& path,
                                    size_t size_hint, size_t max_bytes) {
  constexpr size_t kPiece = 1 << 16;
  std::string contents;
  size_t used = 0;
  contents.resize(size_hint < max_bytes ? size_hint + 1 : kPiece);
  while (true) {
    if (used == contents.size()) contents.resize(2 * used + kPiece);
    ssize_t got = read(fd, contents.data() + used, contents.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(errno, "cannot read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (used > max_bytes) return TooLarge(path, max_bytes);
  }
  contents.resize(used);
  return contents;
}

absl::Status WriteAll(int fd, std::string_view contents,
                      const std::string& path) {
  while (!contents.empty()) {
    ssize_t put = write(fd, contents.data(), contents.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Failed(errno, "cannot write", path);
    contents.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Makes a rename in `folder` outlive a crash of the machine.
void SyncFolder(const std::string& folder) {
  int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// A new file beside `path`, whose name it leaves in `temporary`.
int OpenBeside(const std::string& path, std::string& temporary) {
  static std::atomic<int> counter{0};
  int fd = -1;
  do {
    temporary = absl::StrCat(path, ".", getpid(), "-", counter++, ".tmp");
    fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  return fd;
}

// Also takes over the permissions of the file that will be replaced.
absl::Status WriteAndSync(int fd, std::string_view contents,
                          const std::string& path) {
  KILN_RETURN_IF_ERROR(WriteAll(fd, contents, path));
  struct stat old;
  bool replaces = stat(path.c_str(), &old) == 0;
  if ((replaces && fchmod(fd, old.st_mode & 07777) != 0) || fsync(fd) != 0) {
    return Failed(errno, "cannot write", path);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     size_t max_bytes) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed(errno, "cannot open", path);
  absl::Cleanup closer = [fd] { close(fd); };
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed(errno, "cannot read", path);
  if (S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot read ", path, ": it is a folder"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  if (size > max_bytes) return TooLarge(path, max_bytes);
  return ReadAll(fd, path, size, max_bytes);
}

absl::StatusOr<std::string> ReadFileOrStdin(const std::string& path,
                                            size_t max_bytes) {
  if (path != "-") return ReadFile(path, max_bytes);
  static std::atomic<bool> is_read = false;
  if (is_read.exchange(true)) {
    return absl::FailedPreconditionError(
        "the standard input is read already; give - for one file only");
  }
  return ReadAll(STDIN_FILENO, "the standard input", 0, max_bytes);
}

absl::Status WriteFileAtomically(const std::string& path,
                                 std::string_view contents) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot write ", path, ": it is a folder"));
  }
  std::string temporary;
  int fd = OpenBeside(path, temporary);
  if (fd < 0) return Failed(errno, "cannot write", path);
  absl::Status status = WriteAndSync(fd, contents, path);
  close(fd);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Failed(errno, "cannot write", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  SyncFolder(FolderOf(path));
  return absl::OkStatus();
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Failed(error.value(), "cannot make the folder", path);
  return absl::OkStatus();
}

std::string CallerPath(std::string_view path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  bool stays = path.empty() || path == "-" || path.front() == '/';
  if (stays || folder == nullptr || *folder == '\0') return std::string(path);
  return absl::StrCat(folder, "/", std::string(path));
}

}  // namespace kiln
