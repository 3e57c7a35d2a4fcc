// Database: the tuning database, one SQLite file.
//
// Every trial, failed ones too, is a row. A commit that returned OK survives
// the death of this process at any later moment (write-ahead log; the file
// opens again by itself). Several processes may use one file at a time.
// All methods may be called from several threads.
#ifndef KILN_SEARCH_DATABASE_DATABASE_H_
#define KILN_SEARCH_DATABASE_DATABASE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/database/record.h"

namespace kiln {

// Written into each file. A file of an older version is brought up to date when
// it is opened; one of a newer version is refused.
inline constexpr int64_t kDatabaseSchemaVersion = 3;

// What a confirmed commit survives.
enum class Durability {
  kProcessDeath,  // SIGKILL, out of memory, a crash. No fsync per commit.
  kPowerLoss,     // Also the machine's. One fsync per commit.
};

struct DatabaseOptions {
  Durability durability = Durability::kProcessDeath;
  // How long a commit waits for another process that holds the file.
  int busy_timeout_ms = 10000;
};

// Number of records per verdict, indexed by static_cast<int>(verdict).
using VerdictCounts = std::array<int64_t, kNumVerdicts>;

class Database {
 public:
  // Opens or creates the file. Its folder must exist. Refuses, and leaves as
  // it is, a file that is no database (kDataLoss), belongs to another program
  // (kFailedPrecondition), has an unknown schema version
  // (kFailedPrecondition) or is damaged (kDataLoss); a place that cannot be
  // written is kPermissionDenied. The message names the path.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path, const DatabaseOptions& options = {});
  // One that lives as long as the object, for runs that are only tried out.
  static absl::StatusOr<std::unique_ptr<Database>> InMemory();
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Adds a workload, or does nothing where its key is there already: then the
  // names of the stored text, which GetWorkload gives, are those that traces
  // have to use (rename_trace.h). The key must be 64 lower-case hex digits.
  absl::Status AddWorkload(const Workload& workload);
  // kNotFound where the key is unknown.
  absl::StatusOr<Workload> GetWorkload(const std::string& key);
  absl::StatusOr<std::vector<Workload>> AllWorkloads();
  // Those of one outline, by key.
  absl::StatusOr<std::vector<Workload>> WorkloadsLike(
      const std::string& outline);

  // Stores one trial and returns its id. kAlreadyExists where the program (a
  // refused trace, where there is none) has a record for this workload and
  // target; kFailedPrecondition where the
  // workload is unknown; kInvalidArgument for a record that contradicts
  // itself (an ok one without a positive finite latency, an empty target, no
  // program hash without kScheduleRefused).
  absl::StatusOr<int64_t> CommitTrial(const TuningRecord& record);

  // Stores many in one transaction: all or, on any error, none. A program
  // that is there already is passed over. Returns how many were new.
  absl::StatusOr<int64_t> CommitTrials(absl::Span<const TuningRecord> records);

  // Replaces verdict, reason, latencies, samples and rank of the record with
  // this workload, target and program hash (a re-measurement). kNotFound where
  // there is none.
  absl::Status ReviseTrial(const TuningRecord& record);

  // After a comparison of the fastest programs of a workload and target: what
  // looked at least as fast as the winner, but did not win one itself, is
  // ranked just behind it. Returns the records that were changed.
  absl::StatusOr<std::vector<TuningRecord>> NameWinner(
      const TuningRecord& winner);

  // True where the program was measured for this workload and target.
  absl::StatusOr<bool> HasProgram(const std::string& workload_key,
                                  const std::string& target,
                                  const std::string& program_hash);

  // The k records of verdict ok of least rank (see record.h), best first; ties
  // by age.
  absl::StatusOr<std::vector<TuningRecord>> TopK(
      const std::string& workload_key, const std::string& target, int64_t k);

  // The first of TopK. kNotFound where no trial succeeded.
  absl::StatusOr<TuningRecord> Best(const std::string& workload_key,
                                    const std::string& target);

  // Records in the order of commits.
  absl::StatusOr<std::vector<TuningRecord>> AllRecords(
      const RecordFilter& filter = {});

  // Visits records in the order of commits, few in memory at a time, until
  // the visitor returns an error, which is passed on. The visitor may call
  // the database; it does not see records that it commits itself.
  absl::Status ForEachRecord(
      const RecordFilter& filter,
      const std::function<absl::Status(const TuningRecord&)>& visit);

  absl::StatusOr<int64_t> Count(const RecordFilter& filter = {});
  absl::StatusOr<VerdictCounts> CountByVerdict(const RecordFilter& filter = {});

  const std::string& path() const { return path_; }

 private:
  struct Impl;
  Database(std::string path, std::unique_ptr<Impl> impl);

  std::string path_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_DATABASE_H_
