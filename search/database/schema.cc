// Opening looks before it writes: first at the file's opening bytes, then,
// through SQLite, at the application id, the schema version and the pages. Only
// a file without any of these (absent, empty, or left by a process that died
// while it made one) gets the tables, in one transaction. With a schema of
// version 3,
//
//   no file, or 0 bytes         made anew
//   "These are notes, .."       not an SQLite file
//   application id of others    an SQLite database, but not one that Kiln made
//   version 99                  has schema version 99, this Kiln reads ..
//   version 2                   brought up to date in one transaction
//
// and each refusal leaves the file as it was.
#include "kiln/search/database/schema.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/migrate.h"

namespace kiln::database_internal {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int64_t kApplicationId = 0x4b696c6e;  // "Kiln"
constexpr std::string_view kWayOut =
    "; name another file, or move this one away to start anew";

constexpr char kTables[] = R"sql(
  CREATE TABLE workloads (
    key TEXT PRIMARY KEY,
    func_name TEXT NOT NULL,
    text TEXT NOT NULL,
    outline TEXT NOT NULL DEFAULT ''
  ) WITHOUT ROWID;
  CREATE INDEX workloads_by_outline ON workloads (outline);
  CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workload_key TEXT NOT NULL REFERENCES workloads(key),
    target TEXT NOT NULL,
    compiler_version TEXT NOT NULL,
    program_hash TEXT,
    trace TEXT NOT NULL,
    decisions TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT NOT NULL,
    latency_min_ns REAL NOT NULL,
    latency_median_ns REAL NOT NULL,
    latency_spread_ns REAL NOT NULL,
    samples INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    paired_ratio REAL NOT NULL DEFAULT 0,
    ranked_ns REAL NOT NULL DEFAULT 0,
    UNIQUE (workload_key, target, program_hash)
  );
  CREATE UNIQUE INDEX records_without_program
    ON records (workload_key, target, trace) WHERE program_hash IS NULL;
  CREATE INDEX records_by_rank
    ON records (workload_key, target, verdict,
                (CASE WHEN ranked_ns > 0 THEN ranked_ns
                 ELSE latency_min_ns END));
)sql";

absl::Status Annotate(const absl::Status& status, const std::string& path,
                      std::string_view way_out) {
  return absl::Status(
      status.code(),
      absl::StrCat("tuning database ", path, ": ",
                   std::string(status.message()), std::string(way_out)));
}

absl::Status CheckPlace(const std::string& path) {
  std::error_code error;
  const std::filesystem::path place(path);
  const std::filesystem::path folder =
      place.has_parent_path() ? place.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "tuning database ", path, ": ", folder.string(),
        " is not a folder; create it, or name a file in another place"));
  }
  if (std::filesystem::is_directory(place, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tuning database ", path, ": this is a folder; name a file inside it"));
  }
  return absl::OkStatus();
}

absl::Status CheckMagic(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return absl::OkStatus();
  char bytes[kMagic.size()];
  const size_t count = std::fread(bytes, 1, sizeof bytes, file);
  std::fclose(file);
  if (count == 0) return absl::OkStatus();
  if (std::string_view(bytes, count) == kMagic) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "tuning database ", path, ": not an SQLite file", std::string(kWayOut)));
}

absl::StatusOr<bool> IsNew(sqlite::Connection& connection) {
  KILN_ASSIGN_OR_RETURN(const int64_t id,
                        connection.QueryInt("PRAGMA application_id"));
  KILN_ASSIGN_OR_RETURN(
      const int64_t tables,
      connection.QueryInt("SELECT count(*) FROM sqlite_master"));
  return id == 0 && tables == 0;
}

absl::Status CheckSchema(sqlite::Connection& connection, int64_t version) {
  KILN_ASSIGN_OR_RETURN(const int64_t id,
                        connection.QueryInt("PRAGMA application_id"));
  if (id != kApplicationId) {
    return absl::FailedPreconditionError(
        "an SQLite database, but not one that Kiln made");
  }
  KILN_ASSIGN_OR_RETURN(const int64_t found,
                        connection.QueryInt("PRAGMA user_version"));
  if (found >= 1 && found <= version) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "has schema version ", found, ", this Kiln reads version ", version));
}

// Another process may have been first.
absl::Status Migrate(sqlite::Connection& connection, int64_t version) {
  KILN_ASSIGN_OR_RETURN(int64_t found,
                        connection.QueryInt("PRAGMA user_version"));
  if (found == version) return absl::OkStatus();
  sqlite::Transaction transaction(&connection);
  KILN_RETURN_IF_ERROR(transaction.Begin());
  KILN_ASSIGN_OR_RETURN(found, connection.QueryInt("PRAGMA user_version"));
  KILN_RETURN_IF_ERROR(MigrateTables(connection, found, version));
  KILN_RETURN_IF_ERROR(
      connection.Execute(absl::StrCat("PRAGMA user_version=", version)));
  return transaction.Commit();
}

absl::Status CheckPages(sqlite::Connection& connection) {
  KILN_ASSIGN_OR_RETURN(const std::string verdict,
                        connection.QueryText("PRAGMA quick_check(1)"));
  if (verdict == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("damaged: ", verdict));
}

// The switch to WAL needs the file for a moment alone, and SQLite does not
// wait for that by itself.
absl::Status EnterWal(sqlite::Connection& connection, int timeout_ms) {
  absl::Status status;
  for (int waited = 0; waited <= timeout_ms; waited += 10) {
    absl::StatusOr<std::string> mode =
        connection.QueryText("PRAGMA journal_mode=WAL");
    if (mode.ok() && (*mode == "wal" || *mode == "memory")) {
      return absl::OkStatus();
    }
    if (mode.ok()) {
      return absl::FailedPreconditionError(
          "this file system does not offer shared memory for a write-ahead "
          "log; use a local one");
    }
    status = mode.status();
    if (status.code() != absl::StatusCode::kUnavailable) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

absl::Status CreateTables(sqlite::Connection& connection, int64_t version) {
  sqlite::Transaction transaction(&connection);
  KILN_RETURN_IF_ERROR(transaction.Begin());
  KILN_ASSIGN_OR_RETURN(const bool still_new, IsNew(connection));
  if (!still_new) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(connection.Execute(kTables));
  KILN_RETURN_IF_ERROR(
      connection.Execute(absl::StrCat("PRAGMA application_id=", kApplicationId,
                                      "; PRAGMA user_version=", version)));
  return transaction.Commit();
}

absl::Status Prepare(sqlite::Connection& connection, int64_t version,
                     int busy_timeout_ms, bool sync_each_commit) {
  KILN_RETURN_IF_ERROR(connection.Execute(
      absl::StrCat("PRAGMA busy_timeout=", busy_timeout_ms)));
  KILN_ASSIGN_OR_RETURN(const bool is_new, IsNew(connection));
  if (is_new) {
    KILN_RETURN_IF_ERROR(EnterWal(connection, busy_timeout_ms));
    KILN_RETURN_IF_ERROR(CreateTables(connection, version));
  }
  KILN_RETURN_IF_ERROR(CheckSchema(connection, version));
  KILN_RETURN_IF_ERROR(CheckPages(connection));
  KILN_RETURN_IF_ERROR(EnterWal(connection, busy_timeout_ms));
  KILN_RETURN_IF_ERROR(Migrate(connection, version));
  return connection.Execute(
      absl::StrCat("PRAGMA foreign_keys=ON; PRAGMA synchronous=",
                   sync_each_commit ? "FULL" : "NORMAL"));
}

}  // namespace

absl::StatusOr<sqlite::Connection> OpenTuningFile(const std::string& path,
                                                  int64_t version,
                                                  int busy_timeout_ms,
                                                  bool sync_each_commit) {
  KILN_RETURN_IF_ERROR(CheckPlace(path));
  KILN_RETURN_IF_ERROR(CheckMagic(path));
  absl::StatusOr<sqlite::Connection> connection =
      sqlite::Connection::Open(path);
  if (!connection.ok()) {
    return Annotate(connection.status(), path,
                    "; name a file that can be written");
  }
  absl::Status status =
      Prepare(*connection, version, busy_timeout_ms, sync_each_commit);
  if (status.ok()) return connection;
  if (status.code() == absl::StatusCode::kUnavailable) {
    return Annotate(status, path, "; another process holds it");
  }
  if (status.code() == absl::StatusCode::kPermissionDenied) {
    return Annotate(status, path, "; name a file that can be written");
  }
  return Annotate(status, path, kWayOut);
}

}  // namespace kiln::database_internal
