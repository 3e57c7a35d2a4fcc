#include "kiln/tools/tuning/work_dir.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace kiln
