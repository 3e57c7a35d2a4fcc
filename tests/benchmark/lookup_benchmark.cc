// How long the best program of a function is looked for in a large database:
// 100,000 records of 500 workloads, under the names of the tuning run, under
// others, and where there is nothing but near misses.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/check.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/workload.h"
#include "kiln/tests/benchmark/matmul_space.h"

namespace kiln {
namespace {

constexpr int kWorkloads = 500;
constexpr int kRecordsEach = 200;
constexpr char kTarget[] = "llvm threads=2";

Module Matmul(int columns) {
  const auto module = MakeWorkload(absl::StrCat("gmm:512,", columns, ",512"));
  KILN_CHECK(module.ok());
  return *module;
}

TuningRecord RecordOf(const std::string& key, const std::string& trace, int i) {
  TuningRecord record;
  record.workload_key = key;
  record.target = kTarget;
  record.program_hash = absl::StrCat("program ", i);
  record.trace = trace;
  record.latency_min_ns = record.latency_median_ns = 1e6 + 7 * i % 1001;
  record.samples = 3;
  return record;
}

Database& Records() {
  static Database& database = *[] {
    auto database = Database::InMemory();
    KILN_CHECK(database.ok());
    const MatmulSpace space = MakeMatmulSpace();
    for (int w = 0; w < kWorkloads; ++w) {
      const Workload workload = WorkloadOf(Matmul(512 + 16 * w), "main");
      KILN_CHECK((*database)->AddWorkload(workload).ok());
      std::vector<TuningRecord> records;
      for (int i = 0; i < kRecordsEach; ++i) {
        const Decisions& point = space.points[i % space.points.size()];
        const Trace trace = WithDecisions(space.trace, point);
        records.push_back(RecordOf(workload.key, ToText(trace), i));
      }
      KILN_CHECK((*database)->CommitTrials(records).ok());
    }
    return database->release();
  }();
  return database;
}

void BM_FindBest(benchmark::State& state) {
  const Module module = Matmul(512);
  Database& records = Records();
  for (auto _ : state) {
    const auto best = FindBest(records, module.functions[0], kTarget);
    KILN_CHECK(best.ok());
  }
}
BENCHMARK(BM_FindBest)->Unit(benchmark::kMillisecond);

void BM_FindBestUnderOtherNames(benchmark::State& state) {
  const std::string text = absl::StrReplaceAll(
      PrintModule(Matmul(512)),
      {{"main", "product"}, {"T.block(\"", "T.block(\"my_"}});
  const auto module = ParseModule("m.py", text);
  KILN_CHECK(module.ok());
  Database& records = Records();
  for (auto _ : state) {
    const auto best = FindBest(records, module->functions[0], kTarget);
    KILN_CHECK(best.ok());
  }
}
BENCHMARK(BM_FindBestUnderOtherNames)->Unit(benchmark::kMillisecond);

void BM_FindBestNearMiss(benchmark::State& state) {
  const Module module = Matmul(8);
  Database& records = Records();
  for (auto _ : state) {
    const auto best = FindBest(records, module.functions[0], kTarget);
    KILN_CHECK(absl::IsNotFound(best.status()));
  }
}
BENCHMARK(BM_FindBestNearMiss)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kiln
