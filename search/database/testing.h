// Small fixtures for tests that need a tuning database.
#ifndef KILN_SEARCH_DATABASE_TESTING_H_
#define KILN_SEARCH_DATABASE_TESTING_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "kiln/search/database/record.h"

namespace kiln::testing {

// A folder of its own under the test's temporary folder, removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Workload SomeWorkload();

// An ok record of `program` with this minimal latency.
TuningRecord OkRecord(const std::string& program, double latency_ns);
TuningRecord FailedRecord(const std::string& program, Verdict verdict);

}  // namespace kiln::testing

#endif  // KILN_SEARCH_DATABASE_TESTING_H_
