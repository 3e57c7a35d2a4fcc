// Lines are messages of record.proto, so fields that a later Kiln adds are
// passed over by an older one, and missing ones have their defaults. A record
// refers to its workload by key, and where the log was written under the names
// of some function, also by the hash of the text that has these names:
//
//   {"version":1,"workload":{"key":"9f..","func_name":"main","text":"..",
//                            "names":"a1.."}}
//   {"version":1,"record":{"workload_key":"9f..","names":"a1..","trace":".."}}
//
// If the database knows 9f.. under other names, the trace is renamed to these.
// A tuning log appends a line again when a comparison has revised its record:
// of lines of one program, the last one counts. Workloads are added as they are
// read; records go in together at the end, in one transaction.
#include "kiln/search/database/json_lines.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/json.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/record.pb.h"
#include "kiln/search/database/rename_trace.h"
#include "kiln/search/database/utf8.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

// Short for the text, which has the names.
std::string NamesOf(const Workload& workload) {
  return Sha256Hex(absl::StrCat(workload.func_name, "\n", workload.text))
      .substr(0, 16);
}

search::LogLine LineOf(const Workload& workload) {
  search::LogLine line;
  line.set_version(kJsonLinesVersion);
  line.mutable_workload()->set_key(workload.key);
  line.mutable_workload()->set_func_name(ValidUtf8(workload.func_name));
  line.mutable_workload()->set_text(ValidUtf8(workload.text));
  line.mutable_workload()->set_names(NamesOf(workload));
  return line;
}

search::LogLine LineOf(const TuningRecord& record) {
  search::LogLine line;
  line.set_version(kJsonLinesVersion);
  search::RecordLine& out = *line.mutable_record();
  out.set_workload_key(record.workload_key);
  out.set_target(ValidUtf8(record.target));
  out.set_compiler_version(ValidUtf8(record.compiler_version));
  out.set_program_hash(ValidUtf8(record.program_hash));
  out.set_trace(ValidUtf8(record.trace));
  out.set_decisions(ValidUtf8(record.decisions));
  out.set_verdict(std::string(VerdictName(record.verdict)));
  out.set_reason(ValidUtf8(record.reason));
  out.set_latency_min_ns(record.latency_min_ns);
  out.set_latency_median_ns(record.latency_median_ns);
  out.set_latency_spread_ns(record.latency_spread_ns);
  out.set_samples(record.samples);
  out.set_seed(record.seed);
  out.set_trial(record.trial);
  out.set_created_ms(record.created_ms);
  out.set_paired_ratio(record.paired_ratio);
  out.set_ranked_ns(record.ranked_ns);
  return line;
}

absl::StatusOr<std::string> Print(const search::LogLine& line) {
  KILN_ASSIGN_OR_RETURN(const std::string text,
                        ToJson(line, JsonDefaults::kLeftOut));
  return text + "\n";
}

absl::Status Write(const search::LogLine& line, std::ostream& out) {
  KILN_ASSIGN_OR_RETURN(const std::string text, Print(line));
  out << text;
  if (out.good()) return absl::OkStatus();
  return absl::UnavailableError("tuning log: writing failed");
}

absl::StatusOr<TuningRecord> RecordOf(const search::RecordLine& line) {
  const std::optional<Verdict> verdict = ParseVerdict(line.verdict());
  if (!verdict) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown verdict '", line.verdict(), "'"));
  }
  TuningRecord record;
  record.workload_key = line.workload_key();
  record.target = line.target();
  record.compiler_version = line.compiler_version();
  record.program_hash = line.program_hash();
  record.trace = line.trace();
  record.decisions = line.decisions();
  record.verdict = *verdict;
  record.reason = line.reason();
  record.latency_min_ns = line.latency_min_ns();
  record.latency_median_ns = line.latency_median_ns();
  record.latency_spread_ns = line.latency_spread_ns();
  record.samples = line.samples();
  record.seed = line.seed();
  record.trial = line.trial();
  record.created_ms = line.created_ms();
  record.paired_ratio = line.paired_ratio();
  record.ranked_ns = line.ranked_ns();
  return record;
}

absl::StatusOr<search::LogLine> ParseLine(const std::string& text) {
  search::LogLine line;
  const absl::Status status =
      FromJson(text, &line, JsonUnknownFields::kPassedOver);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a JSON object of a tuning log: ", status.message()));
  }
  if (line.version() != kJsonLinesVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("has version ", line.version(), ", this Kiln reads ",
                     kJsonLinesVersion));
  }
  return line;
}

// Where the records of a workload's line go.
struct Destination {
  std::string key;
  TraceRenamer rename;
};

// Reads lines in turn; `records` are ready for the database.
class Import {
 public:
  explicit Import(Database* database) : database_(*database) {}

  absl::Status Line(const std::string& text);

  ImportCount count;
  std::vector<TuningRecord> records;

 private:
  absl::Status Take(const search::WorkloadLine& line);
  absl::Status Take(const search::RecordLine& line);

  Database& database_;
  // By key and names; the last workload of a key stands for records that tell
  // no names.
  std::map<std::pair<std::string, std::string>, Destination> destinations_;
};

absl::Status Import::Take(const search::WorkloadLine& line) {
  ++count.workloads;
  const Workload workload =
      WithKey({line.key(), line.func_name(), line.text()});
  KILN_RETURN_IF_ERROR(database_.AddWorkload(workload));
  KILN_ASSIGN_OR_RETURN(const Workload stored,
                        database_.GetWorkload(workload.key));
  const Destination to{workload.key, TraceRenamer(workload, stored)};
  destinations_.insert_or_assign({line.key(), line.names()}, to);
  destinations_.insert_or_assign({line.key(), ""}, to);
  return absl::OkStatus();
}

absl::Status Import::Take(const search::RecordLine& line) {
  KILN_ASSIGN_OR_RETURN(TuningRecord record, RecordOf(line));
  const auto to = destinations_.find({line.workload_key(), line.names()});
  if (to != destinations_.end()) {
    record.workload_key = to->second.key;
    record.trace = to->second.rename(record.trace);
  } else {
    KILN_RETURN_IF_ERROR(database_.GetWorkload(record.workload_key).status());
  }
  records.push_back(std::move(record));
  return absl::OkStatus();
}

absl::Status Import::Line(const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const search::LogLine line, ParseLine(text));
  switch (line.content_case()) {
    case search::LogLine::kWorkload:
      return Take(line.workload());
    case search::LogLine::kRecord:
      return Take(line.record());
    case search::LogLine::CONTENT_NOT_SET:
      return absl::InvalidArgumentError("holds neither workload nor record");
  }
  return absl::OkStatus();
}

// A later line of a program, written after a comparison, replaces the earlier.
std::vector<TuningRecord> LastOfEach(const std::vector<TuningRecord>& all) {
  std::map<std::array<std::string, 3>, size_t> places;
  std::vector<TuningRecord> last;
  for (const TuningRecord& record : all) {
    const size_t next = last.size();
    const size_t place = record.program_hash.empty()
                             ? next
                             : places
                                   .insert({{record.workload_key, record.target,
                                             record.program_hash},
                                            next})
                                   .first->second;
    if (place == next) {
      last.push_back(record);
    } else {
      last[place] = record;
    }
  }
  return last;
}

}  // namespace

absl::StatusOr<std::string> ToJsonLine(const Workload& workload) {
  return Print(LineOf(workload));
}

absl::StatusOr<std::string> ToJsonLine(const TuningRecord& record,
                                       const Workload& workload) {
  search::LogLine line = LineOf(record);
  line.mutable_record()->set_names(NamesOf(workload));
  return Print(line);
}

absl::Status ExportJsonLines(Database& database, std::ostream& out) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> workloads,
                        database.AllWorkloads());
  for (const Workload& workload : workloads) {
    KILN_RETURN_IF_ERROR(Write(LineOf(workload), out));
  }
  return database.ForEachRecord({}, [&out](const TuningRecord& record) {
    return Write(LineOf(record), out);
  });
}

absl::StatusOr<ImportCount> ImportJsonLines(std::istream& in,
                                            Database& database) {
  Import import(&database);
  std::string text;
  for (int64_t number = 1; std::getline(in, text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const absl::Status status = import.Line(text);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tuning log, line ", number, ": ", std::string(status.message())));
    }
  }
  ImportCount count = import.count;
  KILN_ASSIGN_OR_RETURN(count.records,
                        database.CommitTrials(LastOfEach(import.records)));
  count.duplicates =
      static_cast<int64_t>(import.records.size()) - count.records;
  return count;
}

}  // namespace kiln
