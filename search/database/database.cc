// All SQL of the database stands in one list, is prepared once when a file is
// opened, and is bound and run under one mutex. A statement to be added takes
// three lines: its text, a member of Impl, a row of PrepareAll.
//
// The file keeps the rules that several processes could break together: a
// program is there once for each workload and target (UNIQUE, so that an insert
// that is not needed does nothing), and a record has its workload (REFERENCES).
// What a single record can contradict is checked here before it is written.
//
//   CommitTrial(record)   →   INSERT ... ON CONFLICT DO NOTHING
//     one row changed: its id     none: kAlreadyExists     no such key: refused
//
// ForEachRecord reads 256 records at a time by id, up to the last id at its
// start, and holds no lock while it visits them, so a visitor may write.
#include "kiln/search/database/database.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/schema.h"
#include "kiln/search/database/sqlite.h"

namespace kiln {
namespace {

#define KILN_RECORD_COLUMNS                                             \
  "id, workload_key, target, compiler_version, program_hash, trace, "   \
  "decisions, verdict, reason, latency_min_ns, latency_median_ns, "     \
  "latency_spread_ns, samples, seed, trial, created_ms, paired_ratio, " \
  "ranked_ns"

#define KILN_RECORD_RANK \
  " (CASE WHEN ranked_ns > 0 THEN ranked_ns ELSE latency_min_ns END) "

#define KILN_RECORD_FILTER                   \
  " WHERE (?1 IS NULL OR workload_key = ?1)" \
  " AND (?2 IS NULL OR target = ?2)"         \
  " AND (?3 IS NULL OR verdict = ?3)"

constexpr char kInsertWorkload[] =
    "INSERT INTO workloads (key, func_name, text, outline)"
    " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO NOTHING";
constexpr char kGetWorkload[] =
    "SELECT key, func_name, text, outline FROM workloads WHERE key = ?1";
constexpr char kAllWorkloads[] =
    "SELECT key, func_name, text, outline FROM workloads ORDER BY key";
constexpr char kWorkloadsLike[] =
    "SELECT key, func_name, text, outline FROM workloads WHERE outline = ?1"
    " ORDER BY key";
constexpr char kInsertRecord[] =
    "INSERT INTO records (workload_key, target, compiler_version,"
    " program_hash, trace, decisions, verdict, reason, latency_min_ns,"
    " latency_median_ns, latency_spread_ns, samples, seed, trial, created_ms,"
    " paired_ratio, ranked_ns)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
    " ?15, ?16, ?17) ON CONFLICT DO NOTHING";
constexpr char kRevise[] =
    "UPDATE records SET verdict = ?4, reason = ?5, latency_min_ns = ?6,"
    " latency_median_ns = ?7, latency_spread_ns = ?8, samples = ?9,"
    " paired_ratio = ?10, ranked_ns = ?11"
    " WHERE workload_key = ?1 AND target = ?2 AND program_hash = ?3";
constexpr char kRankBehind[] =
    "UPDATE records SET ranked_ns = ?5"
    " WHERE workload_key = ?1 AND target = ?2 AND program_hash <> ?3"
    " AND verdict = 'ok' AND paired_ratio <> 1 AND" KILN_RECORD_RANK
    "<= ?4 RETURNING " KILN_RECORD_COLUMNS;
constexpr char kHasProgram[] =
    "SELECT 1 FROM records"
    " WHERE workload_key = ?1 AND target = ?2 AND program_hash = ?3";
constexpr char kTopK[] =
    "SELECT " KILN_RECORD_COLUMNS
    " FROM records WHERE workload_key = ?1 AND target = ?2 AND verdict = 'ok'"
    " ORDER BY" KILN_RECORD_RANK ", id LIMIT ?3";
constexpr char kPage[] =
    "SELECT " KILN_RECORD_COLUMNS " FROM records" KILN_RECORD_FILTER
    " AND id > ?4 AND id <= ?5 ORDER BY id LIMIT 256";
constexpr char kLastId[] = "SELECT coalesce(max(id), 0) FROM records";
constexpr char kCount[] = "SELECT count(*) FROM records" KILN_RECORD_FILTER;
constexpr char kCountByVerdict[] =
    "SELECT verdict, count(*) FROM records" KILN_RECORD_FILTER
    " GROUP BY verdict";

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

absl::Status Invalid(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tuning record: ", std::string(what)));
}

absl::Status CheckLatencies(const TuningRecord& record) {
  const double times[] = {record.latency_min_ns, record.latency_median_ns,
                          record.latency_spread_ns, record.paired_ratio,
                          record.ranked_ns};
  for (double time : times) {
    if (!std::isfinite(time) || time < 0) {
      return Invalid("a latency is negative or not finite");
    }
  }
  if (record.verdict == Verdict::kOk && record.latency_min_ns <= 0) {
    return Invalid("the verdict is ok but there is no latency");
  }
  return absl::OkStatus();
}

absl::Status CheckRecord(const TuningRecord& record) {
  if (record.target.empty()) return Invalid("the target is empty");
  if (record.program_hash.empty() &&
      record.verdict != Verdict::kScheduleRefused) {
    return Invalid("the program hash is empty, though there was a program");
  }
  return CheckLatencies(record);
}

bool IsKey(const std::string& key) {
  return key.size() == 64 && std::all_of(key.begin(), key.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<TuningRecord> ReadRecord(const sqlite::Statement& row) {
  TuningRecord record;
  record.id = row.Int(0);
  record.workload_key = row.Text(1);
  record.target = row.Text(2);
  record.compiler_version = row.Text(3);
  record.program_hash = row.Text(4);
  record.trace = row.Text(5);
  record.decisions = row.Text(6);
  const std::optional<Verdict> verdict = ParseVerdict(row.Text(7));
  if (!verdict) {
    return absl::DataLossError(absl::StrCat("tuning record ", record.id,
                                            " has the unknown verdict '",
                                            row.Text(7), "'"));
  }
  record.verdict = *verdict;
  record.reason = row.Text(8);
  record.latency_min_ns = row.Double(9);
  record.latency_median_ns = row.Double(10);
  record.latency_spread_ns = row.Double(11);
  record.samples = row.Int(12);
  record.seed = static_cast<uint64_t>(row.Int(13));
  record.trial = row.Int(14);
  record.created_ms = row.Int(15);
  record.paired_ratio = row.Double(16);
  record.ranked_ns = row.Double(17);
  return record;
}

Workload ReadWorkload(const sqlite::Statement& row) {
  return {row.Text(0), row.Text(1), row.Text(2), row.Text(3)};
}

absl::StatusOr<std::vector<Workload>> ReadWorkloads(sqlite::Statement& rows) {
  std::vector<Workload> workloads;
  while (true) {
    KILN_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return workloads;
    workloads.push_back(ReadWorkload(rows));
  }
}

}  // namespace

struct Database::Impl {
  explicit Impl(sqlite::Connection c) : connection(std::move(c)) {}

  absl::Status PrepareAll();
  absl::StatusOr<bool> Insert(const TuningRecord& record);
  // All or none; the number of those that are new.
  absl::StatusOr<int64_t> InsertAll(absl::Span<const TuningRecord> records);
  absl::StatusOr<std::vector<TuningRecord>> Page(const RecordFilter& filter,
                                                 int64_t after, int64_t last);

  std::mutex mutex;
  // Statements refer to the connection, so they stand after it.
  sqlite::Connection connection;
  sqlite::Statement insert_workload, get_workload, all_workloads, like;
  sqlite::Statement insert_record, revise, rank_behind, has_program, top_k,
      page, last_id;
  sqlite::Statement count, count_by_verdict;
};

namespace {

void BindFilter(sqlite::Statement& statement, const RecordFilter& filter) {
  statement.BindNull(1);
  statement.BindNull(2);
  statement.BindNull(3);
  if (filter.workload_key) statement.Bind(1, *filter.workload_key);
  if (filter.target) statement.Bind(2, *filter.target);
  if (filter.verdict) statement.Bind(3, VerdictName(*filter.verdict));
}

absl::StatusOr<std::vector<TuningRecord>> ReadAll(sqlite::Statement& rows) {
  std::vector<TuningRecord> records;
  while (true) {
    KILN_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return records;
    absl::StatusOr<TuningRecord> record = ReadRecord(rows);
    if (!record.ok()) rows.Reset();
    if (!record.ok()) return record.status();
    records.push_back(*std::move(record));
  }
}

}  // namespace

absl::Status Database::Impl::PrepareAll() {
  const std::pair<sqlite::Statement*, const char*> all[] = {
      {&insert_workload, kInsertWorkload},
      {&get_workload, kGetWorkload},
      {&all_workloads, kAllWorkloads},
      {&like, kWorkloadsLike},
      {&insert_record, kInsertRecord},
      {&revise, kRevise},
      {&rank_behind, kRankBehind},
      {&has_program, kHasProgram},
      {&top_k, kTopK},
      {&page, kPage},
      {&last_id, kLastId},
      {&count, kCount},
      {&count_by_verdict, kCountByVerdict}};
  for (const auto& [statement, sql] : all) {
    KILN_ASSIGN_OR_RETURN(*statement, connection.Prepare(sql));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Database::Impl::Insert(const TuningRecord& record) {
  KILN_RETURN_IF_ERROR(CheckRecord(record));
  sqlite::Statement& row = insert_record;
  row.Bind(1, record.workload_key);
  row.Bind(2, record.target);
  row.Bind(3, record.compiler_version);
  row.BindNull(4);
  if (!record.program_hash.empty()) row.Bind(4, record.program_hash);
  row.Bind(5, record.trace);
  row.Bind(6, record.decisions);
  row.Bind(7, VerdictName(record.verdict));
  row.Bind(8, record.reason);
  row.Bind(9, record.latency_min_ns);
  row.Bind(10, record.latency_median_ns);
  row.Bind(11, record.latency_spread_ns);
  row.Bind(12, record.samples);
  row.Bind(13, static_cast<int64_t>(record.seed));
  row.Bind(14, record.trial);
  row.Bind(15, record.created_ms != 0 ? record.created_ms : NowMs());
  row.Bind(16, record.paired_ratio);
  row.Bind(17, record.ranked_ns);
  absl::Status status = row.Run();
  if (status.code() == absl::StatusCode::kFailedPrecondition) {
    return absl::FailedPreconditionError(
        absl::StrCat("tuning record: no workload has the key '",
                     record.workload_key, "'; add the workload first"));
  }
  KILN_RETURN_IF_ERROR(status);
  return connection.Changes() > 0;
}

absl::StatusOr<int64_t> Database::Impl::InsertAll(
    absl::Span<const TuningRecord> records) {
  sqlite::Transaction transaction(&connection);
  KILN_RETURN_IF_ERROR(transaction.Begin());
  int64_t added = 0;
  for (const TuningRecord& record : records) {
    KILN_ASSIGN_OR_RETURN(const bool is_new, Insert(record));
    added += is_new;
  }
  KILN_RETURN_IF_ERROR(transaction.Commit());
  return added;
}

absl::StatusOr<std::vector<TuningRecord>> Database::Impl::Page(
    const RecordFilter& filter, int64_t after, int64_t last) {
  std::lock_guard<std::mutex> lock(mutex);
  BindFilter(page, filter);
  page.Bind(4, after);
  page.Bind(5, last);
  return ReadAll(page);
}

namespace {

// A failure of SQLite with the file and the way out; others as they are.
absl::Status WhileWriting(const std::string& path, const absl::Status& status) {
  const char* way_out;
  if (absl::IsResourceExhausted(status)) {
    way_out =
        "; make room and give the same command again, which goes on from the "
        "last trial that was reported";
  } else if (absl::IsUnavailable(status)) {
    way_out = "; wait for the other process, or name another work directory";
  } else if (absl::IsDataLoss(status) || absl::IsInternal(status)) {
    way_out = "; name another work directory, or move this one away";
  } else {
    return status;
  }
  return absl::Status(
      status.code(),
      absl::StrCat("tuning database ", path, ": ", status.message(), way_out));
}

}  // namespace

Database::Database(std::string path, std::unique_ptr<Impl> impl)
    : path_(std::move(path)), impl_(std::move(impl)) {}

Database::~Database() = default;

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path, const DatabaseOptions& options) {
  KILN_ASSIGN_OR_RETURN(
      sqlite::Connection connection,
      database_internal::OpenTuningFile(
          path, kDatabaseSchemaVersion, options.busy_timeout_ms,
          options.durability == Durability::kPowerLoss));
  auto impl = std::make_unique<Impl>(std::move(connection));
  KILN_RETURN_IF_ERROR(impl->PrepareAll());
  return std::unique_ptr<Database>(new Database(path, std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Database>> Database::InMemory() {
  return Open(":memory:");
}

absl::Status Database::AddWorkload(const Workload& workload) {
  if (!IsKey(workload.key)) {
    return absl::InvalidArgumentError(
        absl::StrCat("workload key '", workload.key,
                     "' is not 64 lower-case hexadecimal digits"));
  }
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->insert_workload;
  row.Bind(1, workload.key);
  row.Bind(2, workload.func_name);
  row.Bind(3, workload.text);
  row.Bind(4, workload.outline);
  return WhileWriting(path_, row.Run());
}

absl::StatusOr<Workload> Database::GetWorkload(const std::string& key) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->get_workload;
  row.Bind(1, key);
  KILN_ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat("no workload has the key '", key, "' in ", path_));
  }
  Workload workload = ReadWorkload(row);
  row.Reset();
  return workload;
}

absl::StatusOr<std::vector<Workload>> Database::AllWorkloads() {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return ReadWorkloads(impl_->all_workloads);
}

absl::StatusOr<std::vector<Workload>> Database::WorkloadsLike(
    const std::string& outline) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->like.Bind(1, outline);
  return ReadWorkloads(impl_->like);
}

absl::StatusOr<int64_t> Database::CommitTrial(const TuningRecord& record) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const absl::StatusOr<bool> is_new = impl_->Insert(record);
  if (!is_new.ok()) return WhileWriting(path_, is_new.status());
  if (*is_new) return impl_->connection.LastInsertId();
  return absl::AlreadyExistsError(
      absl::StrCat("program ", record.program_hash,
                   " has a record for this workload and target already"));
}

absl::StatusOr<int64_t> Database::CommitTrials(
    absl::Span<const TuningRecord> records) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const absl::StatusOr<int64_t> added = impl_->InsertAll(records);
  if (!added.ok()) return WhileWriting(path_, added.status());
  return added;
}

absl::Status Database::ReviseTrial(const TuningRecord& record) {
  KILN_RETURN_IF_ERROR(CheckRecord(record));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->revise;
  row.Bind(1, record.workload_key);
  row.Bind(2, record.target);
  row.Bind(3, record.program_hash);
  row.Bind(4, VerdictName(record.verdict));
  row.Bind(5, record.reason);
  row.Bind(6, record.latency_min_ns);
  row.Bind(7, record.latency_median_ns);
  row.Bind(8, record.latency_spread_ns);
  row.Bind(9, record.samples);
  row.Bind(10, record.paired_ratio);
  row.Bind(11, record.ranked_ns);
  KILN_RETURN_IF_ERROR(WhileWriting(path_, row.Run()));
  if (impl_->connection.Changes() > 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("program ", record.program_hash,
                   " has no record to revise for this workload and target"));
}

absl::StatusOr<std::vector<TuningRecord>> Database::NameWinner(
    const TuningRecord& winner) {
  const double ns = winner.rank();
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->rank_behind;
  row.Bind(1, winner.workload_key);
  row.Bind(2, winner.target);
  row.Bind(3, winner.program_hash);
  row.Bind(4, ns);
  row.Bind(5, std::nextafter(ns, HUGE_VAL));
  absl::StatusOr<std::vector<TuningRecord>> behind = ReadAll(row);
  if (!behind.ok()) return WhileWriting(path_, behind.status());
  return behind;
}

absl::StatusOr<bool> Database::HasProgram(const std::string& workload_key,
                                          const std::string& target,
                                          const std::string& program_hash) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->has_program;
  row.Bind(1, workload_key);
  row.Bind(2, target);
  row.Bind(3, program_hash);
  absl::StatusOr<bool> found = row.Step();
  row.Reset();
  return found;
}

absl::StatusOr<std::vector<TuningRecord>> Database::TopK(
    const std::string& workload_key, const std::string& target, int64_t k) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->top_k.Bind(1, workload_key);
  impl_->top_k.Bind(2, target);
  impl_->top_k.Bind(3, std::max<int64_t>(k, 0));
  return ReadAll(impl_->top_k);
}

absl::StatusOr<TuningRecord> Database::Best(const std::string& workload_key,
                                            const std::string& target) {
  KILN_ASSIGN_OR_RETURN(std::vector<TuningRecord> top,
                        TopK(workload_key, target, 1));
  if (!top.empty()) return std::move(top.front());
  return absl::NotFoundError(
      absl::StrCat(path_, " holds no successful trial of workload ",
                   workload_key, " for target '", target, "'"));
}

absl::StatusOr<std::vector<TuningRecord>> Database::AllRecords(
    const RecordFilter& filter) {
  std::vector<TuningRecord> records;
  KILN_RETURN_IF_ERROR(
      ForEachRecord(filter, [&records](const TuningRecord& record) {
        records.push_back(record);
        return absl::OkStatus();
      }));
  return records;
}

absl::Status Database::ForEachRecord(
    const RecordFilter& filter,
    const std::function<absl::Status(const TuningRecord&)>& visit) {
  int64_t last = 0;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    KILN_RETURN_IF_ERROR(impl_->last_id.Step().status());
    last = impl_->last_id.Int(0);
    impl_->last_id.Reset();
  }
  int64_t after = 0;
  while (true) {
    KILN_ASSIGN_OR_RETURN(const std::vector<TuningRecord> page,
                          impl_->Page(filter, after, last));
    if (page.empty()) return absl::OkStatus();
    for (const TuningRecord& record : page) KILN_RETURN_IF_ERROR(visit(record));
    after = page.back().id;
  }
}

absl::StatusOr<int64_t> Database::Count(const RecordFilter& filter) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  BindFilter(impl_->count, filter);
  KILN_RETURN_IF_ERROR(impl_->count.Step().status());
  const int64_t count = impl_->count.Int(0);
  impl_->count.Reset();
  return count;
}

absl::StatusOr<VerdictCounts> Database::CountByVerdict(
    const RecordFilter& filter) {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  sqlite::Statement& row = impl_->count_by_verdict;
  BindFilter(row, filter);
  VerdictCounts counts = {};
  while (true) {
    KILN_ASSIGN_OR_RETURN(const bool more, row.Step());
    if (!more) return counts;
    const std::optional<Verdict> verdict = ParseVerdict(row.Text(0));
    if (verdict) counts[static_cast<int>(*verdict)] = row.Int(1);
  }
}

}  // namespace kiln
