#include "kiln/search/database/record_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/json_lines.h"

namespace kiln {
namespace {

absl::Status SystemError(const std::string& path) {
  return absl::PermissionDeniedError(
      absl::StrCat(path, " cannot be written: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordFile>> RecordFile::Open(
    const std::string& path, Database* database) {
  auto file = std::make_unique<RecordFile>();
  file->path_ = path;
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok() && !absl::IsNotFound(text.status())) return text.status();
  if (text.ok()) {
    const size_t end = text->rfind('\n');
    const size_t whole = end == text->npos ? 0 : end + 1;
    std::istringstream lines(text->substr(0, whole));
    absl::StatusOr<ImportCount> count = ImportJsonLines(lines, *database);
    if (!count.ok()) {
      return absl::Status(count.status().code(),
                          absl::StrCat(path, ": ", count.status().message()));
    }
    file->loaded_ = count->records;
    if (whole < text->size()) {
      if ((*text)[whole] != '{') {
        return absl::InvalidArgumentError(absl::StrCat(
            path,
            ": the end of the file is no record, so that nothing is "
            "added to it; name another file"));
      }
      if (truncate(path.c_str(), static_cast<off_t>(whole)) != 0) {
        return SystemError(path);
      }
    }
  }
  file->file_.reset(std::fopen(path.c_str(), "a"));
  if (!file->file_) return SystemError(path);
  // Each line in one piece, as other processes may append, too.
  std::setvbuf(file->file_.get(), nullptr, _IONBF, 0);
  return file;
}

absl::Status RecordFile::Append(const Workload& workload,
                                const TuningRecord& record) {
  std::string lines;
  if (workloads_.insert({workload.key, workload.text}).second) {
    KILN_ASSIGN_OR_RETURN(lines, ToJsonLine(workload));
  }
  KILN_ASSIGN_OR_RETURN(const std::string line, ToJsonLine(record, workload));
  lines += line;
  const size_t written =
      std::fwrite(lines.data(), 1, lines.size(), file_.get());
  if (written == lines.size() && std::fflush(file_.get()) == 0) {
    return absl::OkStatus();
  }
  return SystemError(path_);
}

}  // namespace kiln
