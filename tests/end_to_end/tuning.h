// `tune --json` at work, as its tests look at it.
#ifndef KILN_TESTS_END_TO_END_TUNING_H_
#define KILN_TESTS_END_TO_END_TUNING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/search/database/record.h"
#include "kiln/tests/support/subprocess.h"
#include "kiln/tools/tuning/event.pb.h"

namespace kiln::testing {

// A folder that is removed at the end.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  const std::string& path() const { return path_; }
  // All records of the database there. Fails the test where it does not open.
  std::vector<TuningRecord> Records() const;

 private:
  std::string path_;
};

// The command line of a tuning run on `workload`.
std::vector<std::string> TuneCommand(const std::string& workload,
                                     int64_t trials, const WorkFolder& folder);

// The events of one run.
struct Events {
  std::optional<tune::StartEvent> start;
  std::vector<tune::TrialEvent> trials;
  std::optional<tune::DoneEvent> done;

  void Add(const std::string& line);
  // The hashes of the programs that were reported.
  std::vector<std::string> Programs() const;
};

// Runs to the end, which has to be a success.
Events RunTuning(const std::vector<std::string>& argv);

// A count from the environment (bazel test --test_env=NAME=…), to run longer
// than continuous integration does.
int CountFromEnvironment(const char* name, int otherwise);

}  // namespace kiln::testing

#endif  // KILN_TESTS_END_TO_END_TUNING_H_
