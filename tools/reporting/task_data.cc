// A database knows keys and texts, but not what people call a program. So the
// text of every named workload, in every form, is printed once and looked up: a
// stored program with the text of gmm:512,512,512 has that name, another one
// its signature, "main(X: 1×512×512, ...)". Names that several programs share
// get numbers: "main(..)", "main(..) #2".
//
// One workload tuned on two targets, or for two numbers of threads, is two
// tasks, since their times have nothing to do with each other. Records of
// refused schedules are kept apart: no program was measured.
#include "kiln/tools/reporting/task_data.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/database.h"
#include "kiln/tools/reporting/task_names.h"

namespace kiln::report {
namespace {

absl::Status At(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", std::string(status.message())));
}

std::vector<std::string> Forms(const std::string& name,
                               const std::string& spec) {
  std::vector<std::string> layouts = {spec};
  if (HasWeights(name))
    layouts.push_back(absl::StrCat(spec, kLayoutFreeSuffix));
  std::vector<std::string> forms;
  for (const std::string& layout : layouts) {
    for (std::string_view numerics :
         {std::string_view(), std::string_view(kNormwiseSuffix),
          std::string_view(kStrictSuffix)}) {
      forms.push_back(absl::StrCat(layout, std::string(numerics)));
    }
  }
  return forms;
}

// The text of a named workload in each of its forms, and its name.
std::map<std::string, std::string> KnownWorkloads() {
  std::map<std::string, std::string> known;
  for (const WorkloadInfo& info : Workloads()) {
    for (const std::vector<int64_t>& dims : info.shapes) {
      const std::string spec =
          absl::StrCat(info.name, ":", absl::StrJoin(dims, ","));
      for (const std::string& form : Forms(info.name, spec)) {
        absl::StatusOr<Module> module = MakeWorkload(form);
        if (module.ok()) known[PrintModule(*module)] = form;
      }
    }
  }
  return known;
}

// Empty where the text is not that of a named workload.
std::string NameOf(const Workload& workload) {
  static const auto* const known =
      new std::map<std::string, std::string>(KnownWorkloads());
  const auto found = known->find(workload.text);
  return found == known->end() ? "" : found->second;
}

// "512x512", "n x 512" where an extent has no number.
std::string ShapeOf(const Buffer& buffer) {
  std::vector<std::string> extents;
  for (const Expr& extent : buffer->shape) {
    extents.push_back(PrintExpr(extent));
  }
  return extents.empty() ? "scalar" : absl::StrJoin(extents, "×");
}

absl::Status SetFunction(TaskData* task) {
  const std::vector<Function>& functions = task->module.functions;
  const auto found = std::find_if(
      functions.begin(), functions.end(),
      [&](const Function& f) { return f.name == task->workload.func_name; });
  if (found == functions.end()) {
    return absl::DataLossError(
        absl::StrCat("the module of workload ", task->workload.key,
                     " has no function \"", task->workload.func_name, "\""));
  }
  task->function = static_cast<int>(found - functions.begin());
  static_cast<TaskWork&>(*task) = TaskWorkOf(*found);
  std::vector<std::string> params;
  for (const Param& param : found->params) {
    if (!param.buffer) continue;
    params.push_back(
        absl::StrCat(param.buffer->name, ": ", ShapeOf(param.buffer)));
  }
  task->signature =
      absl::StrCat(found->name, "(", absl::StrJoin(params, ", "), ")");
  if (task->name.empty()) {
    const char* const form = task->normwise ? ":normwise" : "";
    task->name = absl::StrCat(task->signature, form);
  }
  return absl::OkStatus();
}

// The number after "threads=".
int ThreadsOf(const std::string& target) {
  const size_t at = target.rfind("threads=");
  int threads = 1;
  if (at == target.npos || !absl::SimpleAtoi(target.substr(at + 8), &threads)) {
    return 1;
  }
  return threads;
}

absl::StatusOr<TaskData> MakeTask(const Workload& workload) {
  TaskData task;
  task.workload = workload;
  task.name = NameOf(workload);
  absl::StatusOr<Module> module = ParseModule("its program", workload.text);
  KILN_RETURN_IF_ERROR(module.status());
  task.module = *std::move(module);
  KILN_RETURN_IF_ERROR(SetFunction(&task));
  return task;
}

// A task for each target that the workload has records of; one without
// records where there are none.
absl::StatusOr<std::vector<TaskData>> TasksOf(const Workload& workload,
                                              Database& database) {
  KILN_ASSIGN_OR_RETURN(const TaskData empty, MakeTask(workload));
  RecordFilter filter;
  filter.workload_key = workload.key;
  KILN_ASSIGN_OR_RETURN(const std::vector<TuningRecord> records,
                        database.AllRecords(filter));
  std::map<std::string, TaskData> by_target;
  for (const TuningRecord& record : records) {
    TaskData& task = by_target.try_emplace(record.target, empty).first->second;
    task.target = record.target;
    task.threads = ThreadsOf(record.target);
    const bool refused = record.verdict == Verdict::kScheduleRefused;
    (refused ? task.refused : task.trials).push_back(record);
  }
  std::vector<TaskData> tasks;
  for (auto& [target, task] : by_target) tasks.push_back(std::move(task));
  if (tasks.empty()) tasks.push_back(empty);
  return tasks;
}

void NumberNamesakes(std::vector<TaskData>* tasks) {
  std::map<std::string, std::vector<std::string>> keys;
  for (TaskData& task : *tasks) {
    std::vector<std::string>& known = keys[task.name];
    const auto at = std::find(known.begin(), known.end(), task.workload.key);
    const auto number = at - known.begin() + 1;
    if (at == known.end()) known.push_back(task.workload.key);
    if (number > 1) absl::StrAppend(&task.name, " #", number);
  }
}

}  // namespace

const TuningRecord* TaskData::best() const {
  const TuningRecord* best = nullptr;
  for (const TuningRecord& record : trials) {
    if (record.verdict != Verdict::kOk) continue;
    if (!best || record.rank() < best->rank()) best = &record;
  }
  return best;
}

int64_t TaskData::failed() const {
  return std::count_if(trials.begin(), trials.end(), [](const TuningRecord& r) {
    return r.verdict != Verdict::kOk;
  });
}

std::string CpuOf(const std::string& target) {
  std::vector<std::string> kept;
  for (const auto word : absl::StrSplit(target, ' ')) {
    const bool feature =
        absl::StartsWith(word, "+") || absl::StartsWith(word, "-") ||
        absl::StartsWith(word, "caches=") || absl::StartsWith(word, "threads=");
    if (!feature) kept.emplace_back(word);
  }
  return absl::StrJoin(kept, " ");
}

absl::StatusOr<std::unique_ptr<Database>> OpenWorkDir(const std::string& path,
                                                      const std::string& flag) {
  const std::string file = absl::StrCat(path, "/database.sqlite");
  // Opening makes a database where there is none.
  const absl::Status there = ReadFile(file).status();
  if (!there.ok()) {
    return absl::Status(there.code(),
                        absl::StrCat(std::string(there.message()), "; ", flag,
                                     " names a folder that tune has left"));
  }
  return Database::Open(file);
}

absl::StatusOr<std::vector<TaskData>> ReadWorkDir(const std::string& path,
                                                  const std::string& flag) {
  KILN_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                        OpenWorkDir(path, flag));
  KILN_ASSIGN_OR_RETURN(const std::vector<Workload> workloads,
                        database->AllWorkloads());
  std::vector<TaskData> tasks;
  for (const Workload& workload : workloads) {
    absl::StatusOr<std::vector<TaskData>> more = TasksOf(workload, *database);
    if (!more.ok()) {
      return At(absl::StrCat(path, "/database.sqlite"), more.status());
    }
    for (TaskData& task : *more) tasks.push_back(std::move(task));
  }
  NameAsTuned(path, &tasks);
  NumberNamesakes(&tasks);
  std::stable_sort(
      tasks.begin(), tasks.end(), [](const TaskData& a, const TaskData& b) {
        return std::tie(a.name, a.threads) < std::tie(b.name, b.threads);
      });
  return tasks;
}

}  // namespace kiln::report
