// The folder that a tuning run leaves behind.
#ifndef KILN_TOOLS_TUNING_WORK_DIR_H_
#define KILN_TOOLS_TUNING_WORK_DIR_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// One database for all tasks, and a folder for the results of each task.
class WorkDir {
 public:
  // Makes the folders. The error names the path and why it cannot be used.
  static absl::StatusOr<WorkDir> Open(const std::string& path,
                                      std::string_view task);

  // The database of all tasks in the folder `path`.
  static std::string DatabaseIn(const std::string& path) {
    return path + "/database.sqlite";
  }
  std::string database() const { return DatabaseIn(path_); }
  const std::string& path() const { return path_; }
  std::string flight_log() const { return path_ + "/flight.jsonl"; }
  // Of a process that shares the folder: logs of two runs would mix.
  std::string flight_log(pid_t pid) const {
    return path_ + "/flight." + std::to_string(pid) + ".jsonl";
  }
  const std::string& task_dir() const { return task_dir_; }
  std::string File(std::string_view name) const {
    return task_dir_ + "/" + std::string(name);
  }
  absl::Status Write(std::string_view name, std::string_view contents) const;
  // Adds a line to tune.log.
  absl::Status Log(std::string_view line) const;

 private:
  WorkDir(std::string path, std::string task_dir)
      : path_(std::move(path)), task_dir_(std::move(task_dir)) {}

  std::string path_, task_dir_;
};

// Held by the first of the tuners that share a work directory, until it ends.
class WorkDirLock {
 public:
  WorkDirLock() = default;
  WorkDirLock(WorkDirLock&& other) noexcept;
  WorkDirLock& operator=(WorkDirLock&& other) noexcept;
  ~WorkDirLock();

  // `path` exists. Where the file system has no locks, nobody is seen.
  static WorkDirLock Take(const std::string& path);

  // The process that holds it; 0: this one, or nobody.
  pid_t other() const { return other_; }

 private:
  int fd_ = -1;
  pid_t other_ = 0;
};

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_WORK_DIR_H_
