#include "kiln/search/database/testing.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace kiln::testing {

TempFolder::TempFolder() {
  std::string name = ::testing::TempDir() + "/kiln_database_XXXXXX";
  path_ = mkdtemp(name.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Workload SomeWorkload() {
  return {std::string(64, 'a'), "main", "# a text of another version\n"};
}

TuningRecord OkRecord(const std::string& program, double latency_ns) {
  TuningRecord record;
  record.workload_key = std::string(64, 'a');
  record.target = "llvm -mcpu=znver3 -num-cores=2";
  record.compiler_version = "1";
  record.program_hash = program;
  record.trace = "b0 = sch.get_block(\"C\")\n# \"\xce\xbc\"\\ of " + program;
  record.decisions = "[[4, 8], 3]";
  record.latency_min_ns = latency_ns;
  record.latency_median_ns = latency_ns * 1.25;
  record.latency_spread_ns = latency_ns * 0.125;
  record.samples = 7;
  record.seed = 0xfedcba9876543210u;
  record.trial = 41;
  record.created_ms = 1700000000123;
  return record;
}

TuningRecord FailedRecord(const std::string& program, Verdict verdict) {
  TuningRecord record = OkRecord(program, 0);
  record.verdict = verdict;
  record.reason = "it was bad";
  record.samples = 0;
  return record;
}

}  // namespace kiln::testing
