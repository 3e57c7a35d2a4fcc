#include "kiln/tests/end_to_end/tuning.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "kiln/base/json.h"
#include "kiln/search/database/database.h"

namespace kiln::testing {
namespace {

template <typename Event>
Event Parse(const std::string& line) {
  Event event;
  EXPECT_TRUE(FromJson(line, &event).ok()) << line;
  return event;
}

bool HasEvent(const std::string& line, const std::string& name) {
  return line.find("\"event\":\"" + name + "\"") != line.npos;
}

}  // namespace

WorkFolder::WorkFolder() {
  std::string name = ::testing::TempDir() + "/kiln_tune_XXXXXX";
  path_ = mkdtemp(name.data());
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<TuningRecord> WorkFolder::Records() const {
  const std::string path = path_ + "/database.sqlite";
  if (!std::filesystem::exists(path)) return {};
  auto database = Database::Open(path);
  EXPECT_TRUE(database.ok()) << database.status();
  if (!database.ok()) return {};
  auto records = (*database)->AllRecords();
  EXPECT_TRUE(records.ok()) << records.status();
  return records.ok() ? *records : std::vector<TuningRecord>();
}

std::vector<std::string> TuneCommand(const std::string& workload,
                                     int64_t trials, const WorkFolder& folder) {
  return {"tools/tune", "--json",     "--workload",
          workload,     "--trials",   std::to_string(trials),
          "--work-dir", folder.path()};
}

void Events::Add(const std::string& line) {
  if (HasEvent(line, "start")) start = Parse<tune::StartEvent>(line);
  if (HasEvent(line, "trial")) trials.push_back(Parse<tune::TrialEvent>(line));
  if (HasEvent(line, "done")) done = Parse<tune::DoneEvent>(line);
}

std::vector<std::string> Events::Programs() const {
  std::vector<std::string> programs;
  for (const tune::TrialEvent& trial : trials) {
    if (!trial.program().empty()) programs.push_back(trial.program());
  }
  return programs;
}

Events RunTuning(const std::vector<std::string>& argv) {
  Process process(argv);
  const ProcessResult result = process.Wait(600);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.signal, 0);
  Events events;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) events.Add(line);
  EXPECT_TRUE(events.done.has_value());
  return events;
}

int CountFromEnvironment(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text ? atoi(text) : otherwise;
}

}  // namespace kiln::testing
