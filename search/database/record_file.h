// A file of records as JSON lines that grows while a search runs.
#ifndef KILN_SEARCH_DATABASE_RECORD_FILE_H_
#define KILN_SEARCH_DATABASE_RECORD_FILE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/record.h"

namespace kiln {

class RecordFile {
 public:
  // Takes what the file holds into the database (json_lines.h), and opens it
  // to add more. A last line that a killed run left unfinished is cut off; an
  // end that begins like no record is refused. The error names the file, and
  // the line.
  static absl::StatusOr<std::unique_ptr<RecordFile>> Open(
      const std::string& path, Database* database);

  // Adds the record, and its workload before the first one.
  absl::Status Append(const Workload& workload, const TuningRecord& record);

  int64_t loaded() const { return loaded_; }  // records that were new

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  // Keys and texts that this run has written.
  std::set<std::pair<std::string, std::string>> workloads_;
  int64_t loaded_ = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_RECORD_FILE_H_
