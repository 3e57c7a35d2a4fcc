// The tables of a tuning database, and the judgement whether a file has them.
#ifndef KILN_SEARCH_DATABASE_SCHEMA_H_
#define KILN_SEARCH_DATABASE_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/database/sqlite.h"

namespace kiln::database_internal {

// Opens `path`, makes the tables where the file is new, and refuses whatever
// is no undamaged tuning database of schema version `version` or an older one
// without writing to it; an older one is brought up to date, in one
// transaction. Messages name the path and the way out.
absl::StatusOr<sqlite::Connection> OpenTuningFile(const std::string& path,
                                                  int64_t version,
                                                  int busy_timeout_ms,
                                                  bool sync_each_commit);

}  // namespace kiln::database_internal

#endif  // KILN_SEARCH_DATABASE_SCHEMA_H_
