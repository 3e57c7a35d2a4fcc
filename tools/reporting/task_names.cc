#include "kiln/tools/reporting/task_names.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/json.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/task/flight.pb.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln::report {
namespace {

using TasksByKey = std::map<std::string, std::vector<TaskData*>>;

// That of the folder, and of tuners that shared it.
std::set<std::string> FlightLogs(const std::string& work_dir) {
  std::set<std::string> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(work_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, "flight.") && absl::EndsWith(name, ".jsonl")) {
      paths.insert(entry.path().string());
    }
  }
  return paths;
}

std::string MachineOf(const flight::Run& run) {
  const absl::StatusOr<Machine> machine = MachineFromJson(run.machine());
  return machine.ok() ? absl::StrCat(machine->cpu, ", ", machine->cores,
                                     machine->cores == 1 ? " core" : " cores")
                      : "";
}

bool HasSignatureForName(const TaskData& task) {
  return absl::StartsWith(task.name,
                          absl::StrCat(task.workload.func_name, "("));
}

void TakeTask(const flight::Task& log, const std::string& machine,
              TasksByKey& by_key) {
  const auto found = by_key.find(log.key());
  if (found == by_key.end()) return;
  const bool is_workload = MakeWorkload(log.name()).ok();
  for (TaskData* task : found->second) {
    if (log.weight() > 0) task->weight = log.weight();
    // The fingerprint; of a database without trials it is not known.
    if (task->target.empty() || task->target == log.target()) {
      task->machine = machine;
    }
    if (is_workload && HasSignatureForName(*task)) task->name = log.name();
  }
}

// Most lines are long, and tell neither of a run nor of a task.
void ReadLog(const std::string& path, TasksByKey& by_key) {
  std::ifstream log(path);
  std::string machine;
  for (std::string line; std::getline(log, line);) {
    if (!absl::StartsWith(line, "{\"run\":") &&
        !absl::StartsWith(line, "{\"task\":")) {
      continue;
    }
    flight::Event event;
    if (!FromJson(line, &event).ok()) {
      continue;
    }
    if (event.has_run()) machine = MachineOf(event.run());
    if (event.has_task()) TakeTask(event.task(), machine, by_key);
  }
}

}  // namespace

void NameAsTuned(const std::string& work_dir, std::vector<TaskData>* tasks) {
  TasksByKey by_key;
  for (TaskData& task : *tasks) by_key[task.workload.key].push_back(&task);
  for (const std::string& path : FlightLogs(work_dir)) ReadLog(path, by_key);
}

}  // namespace kiln::report
