// A tuning database as JSON lines, and back (messages of record.proto).
//
//   {"version":1,"workload":{"key":"9f…","func_name":"main","text":"…"}}
//   {"version":1,"record":{"workload_key":"9f…","verdict":"ok",…}}
#ifndef KILN_SEARCH_DATABASE_JSON_LINES_H_
#define KILN_SEARCH_DATABASE_JSON_LINES_H_

#include <cstdint>
#include <istream>
#include <ostream>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/database/database.h"

namespace kiln {

// A line of another version is refused.
inline constexpr int kJsonLinesVersion = 1;

// One line, its end included.
absl::StatusOr<std::string> ToJsonLine(const Workload& workload);
// The trace is said in the names of the workload, whose line comes before.
absl::StatusOr<std::string> ToJsonLine(const TuningRecord& record,
                                       const Workload& workload);

// Writes every workload, then every record in the order of commits. Bytes
// that are no UTF-8 (a worker's message may hold some) are written as '?'.
absl::Status ExportJsonLines(Database& database, std::ostream& out);

struct ImportCount {
  int64_t workloads = 0;  // Lines, known ones included.
  int64_t records = 0;    // Records that were new.
  int64_t duplicates = 0;
};

// Adds what the lines hold; traces are renamed where the database has their
// function under other names. Empty lines are passed over. A bad line is
// kInvalidArgument with its number; records are then not added at all.
absl::StatusOr<ImportCount> ImportJsonLines(std::istream& in,
                                            Database& database);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_JSON_LINES_H_
