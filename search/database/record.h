// What the tuning database holds: workloads, and one record per trial.
#ifndef KILN_SEARCH_DATABASE_RECORD_H_
#define KILN_SEARCH_DATABASE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/search/database/verdict.h"

namespace kiln {

// A tensor function that was tuned.
struct Workload {
  // 64 lower-case hex digits: the same for functions that differ in names
  // only (workload.h).
  std::string key;
  std::string func_name;
  // The module as TVMScript, in the names that the traces of its records use.
  std::string text;
  // What functions of one form, but of other numbers and types, share; empty
  // where nobody has worked it out.
  std::string outline = "";
};

// One trial of a search.
struct TuningRecord {
  // Given by the database, ascending in the order of commits. 0 before that.
  int64_t id = 0;
  std::string workload_key;
  // The target's fingerprint: what decides which machine code is fast.
  std::string target;
  std::string compiler_version;
  // Hash of the scheduled program. Unique per workload and target. Empty only
  // for kScheduleRefused, where there is no program.
  std::string program_hash;
  // The schedule as a printed trace, and its decisions alone. In a database it
  // names blocks and buffers as the text of the stored workload does.
  std::string trace;
  std::string decisions;
  Verdict verdict = Verdict::kOk;
  // Why a trial failed; empty for kOk.
  std::string reason;
  // Nanoseconds for one call: the least that was ever seen of this program.
  // Positive for kOk, else 0.
  double latency_min_ns = 0;
  double latency_median_ns = 0;
  // Scatter of the samples, as the runner defines it.
  double latency_spread_ns = 0;
  int64_t samples = 0;
  // Of a program that was compared with the best few in turns: how many times
  // as long as the winner it took in the same rounds, 1 for the winner. 0: it
  // was not compared.
  double paired_ratio = 0;
  // What it counts as among others, where that is not its own least time: the
  // winner's least time, times paired_ratio; or just above it, where a trial of
  // a program that was not compared looked faster. 0: latency_min_ns.
  double ranked_ns = 0;
  uint64_t seed = 0;
  int64_t trial = 0;
  // Milliseconds since the epoch. 0 asks CommitTrial for the time of commit.
  int64_t created_ms = 0;

  double rank() const { return ranked_ns > 0 ? ranked_ns : latency_min_ns; }
};

// Which records a query is about. An absent field allows everything.
struct RecordFilter {
  std::optional<std::string> workload_key;
  std::optional<std::string> target;
  std::optional<Verdict> verdict;
};

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_RECORD_H_
