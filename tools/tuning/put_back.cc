#include "kiln/tools/tuning/put_back.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/database/by_size.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/record.h"
#include "kiln/search/database/verdict.h"
#include "kiln/tools/tuning/call_counts.h"
#include "kiln/tools/tuning/record_target.h"
#include "kiln/tools/tuning/work_dir.h"

namespace kiln {
namespace {

absl::Status NothingTuned(const std::string& work_dir, const char* what) {
  return absl::NotFoundError(
      absl::StrCat("--work-dir ", work_dir, " ", what,
                   "; tune --module model.py --minutes 5 --work-dir ", work_dir,
                   " measures schedules of the model's functions"));
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> OpenTuned(
    const std::string& work_dir) {
  const std::string path = WorkDir::DatabaseIn(work_dir);
  if (!Exists(work_dir)) return NothingTuned(work_dir, "does not exist");
  if (!Exists(path)) return NothingTuned(work_dir, "has no records of tune");
  std::unique_ptr<Database> database;
  KILN_ASSIGN_OR_RETURN(database, Database::Open(path));
  RecordFilter succeeded;
  succeeded.verdict = Verdict::kOk;
  KILN_ASSIGN_OR_RETURN(const int64_t count, database->Count(succeeded));
  if (count == 0) {
    return NothingTuned(work_dir, "has no record of a trial that succeeded");
  }
  return database;
}

absl::StatusOr<TunedModule> PutBackBest(const Module& module,
                                        Database& database,
                                        const Target& target) {
  const std::string of_records = RecordTarget(target);
  TunedModule result{module, {}, {}};
  for (const auto& [name, calls] : CallCounts(module)) {
    Function* function = result.module.Find(name);
    absl::StatusOr<BestProgram> best =
        FindBestBySize(database, *function, of_records);
    if (absl::IsNotFound(best.status())) {
      result.why[name] = std::string(best.status().message());
      continue;
    }
    KILN_RETURN_IF_ERROR(best.status());
    *function = std::move(best->scheduled);
    result.tuned.insert(name);
  }
  return result;
}

Scheduler KeepTuned(std::set<std::string> tuned, Scheduler rest) {
  return
      [tuned = std::move(tuned), rest = std::move(rest)](
          const Module& module, const Function& f) -> absl::StatusOr<Function> {
        if (tuned.count(f.name)) return f;
        return rest(module, f);
      };
}

Scheduler ScheduleFromRecords(Database* database, const Target& target,
                              Scheduler rest) {
  return [database, of_records = RecordTarget(target), rest = std::move(rest)](
             const Module& module,
             const Function& f) -> absl::StatusOr<Function> {
    absl::StatusOr<BestProgram> best = FindBestBySize(*database, f, of_records);
    if (absl::IsNotFound(best.status())) return rest(module, f);
    if (!best.ok()) return best.status();
    return std::move(best->scheduled);
  };
}

}  // namespace kiln
