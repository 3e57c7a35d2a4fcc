#include "kiln/tools/tuning/work_dir.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

// A name that every file system takes.
std::string FileName(std::string_view task) {
  std::string name;
  for (char c : task) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) ||
                       c == '.' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name.empty() || name[0] == '.' ? "task" + name : name;
}

}  // namespace

absl::StatusOr<WorkDir> WorkDir::Open(const std::string& path,
                                      std::string_view task) {
  if (path.empty()) {
    return absl::InvalidArgumentError(
        "--work-dir is empty; name a folder, . for this one");
  }
  const std::string task_dir = absl::StrCat(path, "/", FileName(task));
  absl::Status status = MakeFolders(task_dir);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("the work directory cannot be used: ",
                                     std::string(status.message()),
                                     "; name another one with --work-dir"));
  }
  return WorkDir(path, task_dir);
}

absl::Status WorkDir::Write(std::string_view name,
                            std::string_view contents) const {
  return WriteFileAtomically(File(name), contents);
}

absl::Status WorkDir::Log(std::string_view line) const {
  std::FILE* file = std::fopen(File("tune.log").c_str(), "a");
  if (!file) {
    return absl::PermissionDeniedError(absl::StrCat(
        File("tune.log"), " cannot be written: ", std::strerror(errno)));
  }
  std::fprintf(file, "%.*s\n", static_cast<int>(line.size()), line.data());
  std::fclose(file);
  return absl::OkStatus();
}

WorkDirLock::WorkDirLock(WorkDirLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), other_(other.other_) {}

WorkDirLock& WorkDirLock::operator=(WorkDirLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  other_ = other.other_;
  return *this;
}

WorkDirLock::~WorkDirLock() {
  if (fd_ >= 0) close(fd_);
}

WorkDirLock WorkDirLock::Take(const std::string& path) {
  WorkDirLock lock;
  const std::string file = path + "/lock";
  lock.fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock.fd_ < 0) return lock;
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(lock.fd_, F_SETLK, &whole) == 0) return lock;
  if (fcntl(lock.fd_, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK) {
    lock.other_ = whole.l_pid;
  }
  return lock;
}

}  // namespace kiln
