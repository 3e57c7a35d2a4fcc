// The key of a function is a hash of what it computes, names aside, so the best
// record is one look-up by index; its trace is replayed in the names that were
// asked for. A record whose trace does not apply any more is no error: up to
// eight are tried in the order of their times.
//
// A miss says what is near. Each workload is stored with the hash of its
// outline, which leaves out types and shapes, so those of the same computation
// are one look-up too, and are then compared with the types and with the
// shapes:
//
//   t.db has no program of main(float32[64, 64], ...) for llvm ...; near it are
//     this function on another target, llvm ...: 64 trials, best 3.210 us
//     the same computation on other shapes: float32[512, 512], ...
#include "kiln/search/database/lookup.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/search/database/rename_trace.h"
#include "kiln/search/database/workload.h"

namespace kiln {
namespace {

constexpr int64_t kTries = 8;    // programs whose trace may not apply
constexpr size_t kMostNear = 8;  // workloads that a miss is compared with

// "float32[512, 512], float32[512, 32]": what tells near functions apart.
std::string Shapes(const Function& f) {
  std::string shapes;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    absl::StrAppend(&shapes, shapes.empty() ? "" : ", ",
                    param.buffer->dtype.ToString(), "[");
    for (size_t i = 0; i < param.buffer->shape.size(); ++i) {
      absl::StrAppend(&shapes, i == 0 ? "" : ", ",
                      PrintExpr(param.buffer->shape[i]));
    }
    absl::StrAppend(&shapes, "]");
  }
  return shapes;
}

// The workload of a function; nullopt where nothing is known of it.
absl::StatusOr<std::optional<Workload>> WorkloadIn(Database& database,
                                                   const Function& function) {
  absl::StatusOr<Workload> workload =
      database.GetWorkload(WorkloadKey(function));
  if (absl::IsNotFound(workload.status())) return std::nullopt;
  if (!workload.ok()) return workload.status();
  return *std::move(workload);
}

// Of these records, in order, the first `most` whose traces apply.
std::vector<BestProgram> Applied(std::vector<TuningRecord> records,
                                 const Workload& workload,
                                 const Function& function, size_t most) {
  std::vector<BestProgram> programs;
  const absl::StatusOr<StoredFunction> stored = ReadWorkload(workload);
  if (!stored.ok()) return programs;  // of another version of Kiln
  StoredFunction asked;
  asked.module.functions.push_back(function);
  for (TuningRecord& record : records) {
    if (programs.size() == most) break;
    absl::StatusOr<RenamedTrace> renamed =
        RenameTrace(*stored, record.trace, asked);
    if (!renamed.ok()) continue;
    record.trace = std::move(renamed->trace);
    programs.push_back(
        {std::move(renamed->scheduled), std::move(record), workload});
  }
  return programs;
}

// kNotFound where no trial succeeded.
absl::StatusOr<TuningRecord> FirstRecord(Database& database,
                                         const std::string& key,
                                         const std::string& target) {
  std::optional<TuningRecord> first;
  const absl::Status found = database.ForEachRecord(
      {key, target, Verdict::kOk}, [&](const TuningRecord& record) {
        first = record;
        return absl::CancelledError();
      });
  if (first) return *std::move(first);
  return found.ok() ? absl::NotFoundError("no trial succeeded") : found;
}

// Without the list of CPU features, which nobody reads.
std::string ShortTarget(const std::string& target) {
  std::vector<std::string> words = absl::StrSplit(target, ' ');
  for (std::string& word : words) {
    if (word.find(',') != word.npos) word = "(features)";
  }
  return absl::StrJoin(words, " ");
}

// Lines that say what is known of a workload that would have done.
absl::Status ExplainSame(Database& database, const Workload& workload,
                         const std::string& target, std::string* lines) {
  struct OfTarget {
    int64_t trials = 0;
    double best_ns = 0;
  };
  std::map<std::string, OfTarget> targets;
  RecordFilter filter;
  filter.workload_key = workload.key;
  KILN_RETURN_IF_ERROR(
      database.ForEachRecord(filter, [&](const TuningRecord& record) {
        OfTarget& t = targets[record.target];
        ++t.trials;
        const double ns = record.rank();
        if (record.verdict == Verdict::kOk &&
            (t.best_ns == 0 || ns < t.best_ns)) {
          t.best_ns = ns;
        }
        return absl::OkStatus();
      }));
  for (const auto& [name, t] : targets) {
    absl::StrAppend(
        lines, "\n  this function ",
        name == target ? "on this target: " : "on another target, ",
        name == target ? "" : ShortTarget(name) + ": ", t.trials, " trials, ",
        t.best_ns > 0 ? absl::StrFormat("best %.3f us", t.best_ns * 1e-3)
                      : "none succeeded");
  }
  return absl::OkStatus();
}

std::string ExplainNear(const Function& function, const Function& other) {
  const bool same_types =
      Outline(function, true, false) == Outline(other, true, false);
  const bool same_shape =
      Outline(function, false, true) == Outline(other, false, true);
  const char* what = same_types   ? "other shapes"
                     : same_shape ? "another type"
                                  : "other shapes and another type";
  return absl::StrCat("\n  the same computation on ", what, ": ",
                      Shapes(other));
}

// Lines about workloads of the same form as the function.
absl::StatusOr<std::string> NearTo(Database& database,
                                   const Function& function) {
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Workload> all,
      database.WorkloadsLike(Sha256Hex(Outline(function, true, true))));
  const std::string own_key = WorkloadKey(function);
  std::string lines;
  size_t shown = 0, more = 0;
  for (const Workload& workload : all) {
    if (workload.key == own_key) continue;
    if (shown == kMostNear) {
      ++more;
      continue;
    }
    const absl::StatusOr<StoredFunction> stored = ReadWorkload(workload);
    if (!stored.ok()) continue;
    absl::StrAppend(&lines, ExplainNear(function, stored->get()));
    ++shown;
  }
  if (more > 0) absl::StrAppend(&lines, "\n  and ", more, " more like these");
  return lines;
}

}  // namespace

absl::StatusOr<BestProgram> FindBest(Database& database,
                                     const Function& function,
                                     const std::string& target) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Workload> workload,
                        WorkloadIn(database, function));
  std::string misses;
  if (workload) {
    KILN_ASSIGN_OR_RETURN(std::vector<TuningRecord> records,
                          database.TopK(workload->key, target, kTries));
    std::vector<BestProgram> best =
        Applied(std::move(records), *workload, function, 1);
    if (!best.empty()) return std::move(best[0]);
    KILN_RETURN_IF_ERROR(ExplainSame(database, *workload, target, &misses));
  }
  KILN_ASSIGN_OR_RETURN(const std::string near, NearTo(database, function));
  misses += near;
  return absl::NotFoundError(absl::StrCat(
      database.path(), " has no program of ", function.name, "(",
      Shapes(function), ") for ", ShortTarget(target),
      misses.empty() ? "; nothing like it was tuned" : "; near it are",
      misses));
}

absl::StatusOr<std::vector<BestProgram>> FindBestAndFirst(
    Database& database, const Function& function, const std::string& target,
    int64_t most) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Workload> workload,
                        WorkloadIn(database, function));
  if (!workload) return std::vector<BestProgram>();
  KILN_ASSIGN_OR_RETURN(std::vector<TuningRecord> records,
                        database.TopK(workload->key, target, most + kTries));
  std::vector<BestProgram> programs = Applied(
      std::move(records), *workload, function, static_cast<size_t>(most));
  if (programs.empty()) return programs;
  KILN_ASSIGN_OR_RETURN(TuningRecord first,
                        FirstRecord(database, workload->key, target));
  for (const BestProgram& program : programs) {
    if (program.record.id == first.id) return programs;
  }
  for (BestProgram& program :
       Applied({std::move(first)}, *workload, function, 1)) {
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace kiln
