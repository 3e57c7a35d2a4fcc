// Version 2 ranks programs by comparisons. Version 3 keys workloads by what
// they compute instead of by their text: workloads that differ in names only
// become one, that of the first text, and the traces of the others are renamed.
// Where two of them have a record of one program, the second stays with the
// workload that it had.
#include "kiln/search/database/migrate.h"

#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/search/database/record.h"
#include "kiln/search/database/rename_trace.h"
#include "kiln/search/database/workload.h"

namespace kiln::database_internal {
namespace {

constexpr char kRanks[] = R"sql(
  ALTER TABLE records ADD COLUMN paired_ratio REAL NOT NULL DEFAULT 0;
  ALTER TABLE records ADD COLUMN ranked_ns REAL NOT NULL DEFAULT 0;
  DROP INDEX records_by_latency;
  CREATE INDEX records_by_rank
    ON records (workload_key, target, verdict,
                (CASE WHEN ranked_ns > 0 THEN ranked_ns
                 ELSE latency_min_ns END));
)sql";

constexpr char kOutlines[] = R"sql(
  ALTER TABLE workloads ADD COLUMN outline TEXT NOT NULL DEFAULT '';
  CREATE INDEX workloads_by_outline ON workloads (outline);
)sql";

absl::Status AddRanks(sqlite::Connection& connection) {
  return connection.Execute(kRanks);
}

absl::StatusOr<std::vector<Workload>> AllWorkloads(
    sqlite::Connection& connection) {
  KILN_ASSIGN_OR_RETURN(
      sqlite::Statement row,
      connection.Prepare("SELECT w.key, w.func_name, w.text FROM workloads w"
                         " ORDER BY (SELECT min(id) FROM records"
                         "           WHERE workload_key = w.key) NULLS LAST,"
                         " w.key"));
  std::vector<Workload> workloads;
  while (true) {
    KILN_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return workloads;
    workloads.push_back({row.Text(0), row.Text(1), row.Text(2)});
  }
}

// The workload that has the key now: `w`, or one that came before.
absl::StatusOr<Workload> Keep(sqlite::Connection& connection,
                              const Workload& w) {
  KILN_ASSIGN_OR_RETURN(
      sqlite::Statement insert,
      connection.Prepare("INSERT INTO workloads (key, func_name, text, outline)"
                         " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE"
                         " SET outline = excluded.outline"
                         " RETURNING key, func_name, text, outline"));
  insert.Bind(1, w.key);
  insert.Bind(2, w.func_name);
  insert.Bind(3, w.text);
  insert.Bind(4, w.outline);
  KILN_RETURN_IF_ERROR(insert.Step().status());
  Workload kept = {insert.Text(0), insert.Text(1), insert.Text(2),
                   insert.Text(3)};
  insert.Reset();
  return kept;
}

absl::StatusOr<std::vector<std::pair<int64_t, std::string>>> TracesOf(
    sqlite::Connection& connection, const std::string& key) {
  KILN_ASSIGN_OR_RETURN(
      sqlite::Statement row,
      connection.Prepare(
          "SELECT id, trace FROM records WHERE workload_key = ?1"));
  row.Bind(1, key);
  std::vector<std::pair<int64_t, std::string>> traces;
  while (true) {
    KILN_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return traces;
    traces.emplace_back(row.Int(0), row.Text(1));
  }
}

// Gives the records of `from` to `to`, but for those of programs that it has.
absl::Status MoveRecords(sqlite::Connection& connection, const Workload& from,
                         const Workload& to) {
  const TraceRenamer rename(from, to);
  KILN_ASSIGN_OR_RETURN(const auto traces, TracesOf(connection, from.key));
  KILN_ASSIGN_OR_RETURN(
      sqlite::Statement move,
      connection.Prepare("UPDATE OR IGNORE records SET workload_key = ?2,"
                         " trace = ?3 WHERE id = ?1"));
  for (const auto& [id, trace] : traces) {
    const std::string renamed = rename(trace);
    move.Bind(1, id);
    move.Bind(2, to.key);
    move.Bind(3, renamed);
    KILN_RETURN_IF_ERROR(move.Run());
  }
  return absl::OkStatus();
}

absl::Status DropIfEmpty(sqlite::Connection& connection,
                         const std::string& key) {
  KILN_ASSIGN_OR_RETURN(
      sqlite::Statement drop,
      connection.Prepare("DELETE FROM workloads WHERE key = ?1 AND NOT EXISTS"
                         " (SELECT 1 FROM records WHERE workload_key = ?1)"));
  drop.Bind(1, key);
  return drop.Run();
}

absl::Status KeyAnew(sqlite::Connection& connection, const Workload& old) {
  KILN_ASSIGN_OR_RETURN(const Workload kept, Keep(connection, WithKey(old)));
  if (kept.key == old.key) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(MoveRecords(connection, old, kept));
  return DropIfEmpty(connection, old.key);
}

absl::Status KeyByContent(sqlite::Connection& connection) {
  KILN_RETURN_IF_ERROR(connection.Execute(kOutlines));
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> workloads,
                        AllWorkloads(connection));
  for (const Workload& old : workloads) {
    KILN_RETURN_IF_ERROR(KeyAnew(connection, old));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MigrateTables(sqlite::Connection& connection, int64_t found,
                           int64_t version) {
  // From the version of the place, counted from 1, to the next.
  constexpr absl::Status (*kSteps[])(sqlite::Connection&) = {AddRanks,
                                                             KeyByContent};
  for (; found < version; ++found) {
    KILN_RETURN_IF_ERROR(kSteps[found - 1](connection));
  }
  return absl::OkStatus();
}

}  // namespace kiln::database_internal
