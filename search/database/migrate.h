// Tuning databases of older versions, brought up to date.
#ifndef KILN_SEARCH_DATABASE_MIGRATE_H_
#define KILN_SEARCH_DATABASE_MIGRATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kiln/search/database/sqlite.h"

namespace kiln::database_internal {

// Runs the steps from version `found` (>= 1) to `version`, inside a transaction
// of the caller's. No record is lost.
absl::Status MigrateTables(sqlite::Connection& connection, int64_t found,
                           int64_t version);

}  // namespace kiln::database_internal

#endif  // KILN_SEARCH_DATABASE_MIGRATE_H_
