#include "kiln/search/task/tuner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/builder.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/measure/task_data.h"
#include "kiln/search/space/space.h"
#include "kiln/search/strategy/random_search.h"
#include "kiln/search/strategy/strategy.h"
#include "kiln/search/task/testing.h"

namespace kiln {
namespace {

// Each met many times.
constexpr int kPrograms = 20;

// Draws at random, and remembers what it is told.
class Listener : public Strategy {
 public:
  Listener(const Space* space, uint64_t seed, ThreadPool* pool)
      : random_(space, seed, pool) {}
  void Exclude(const std::string& hash) override { random_.Exclude(hash); }
  SearchBatch Next(int count) override { return random_.Next(count); }
  absl::Status Observe(const std::vector<Candidate>& candidates,
                       const std::vector<double>& seconds) override {
    for (size_t i = 0; i < candidates.size(); ++i) {
      told[candidates[i].scheduled.name] = seconds[i];
    }
    return absl::OkStatus();
  }
  std::map<std::string, double> told;

 private:
  RandomSearch random_;
};

class NumberBuilder : public Builder {
 public:
  absl::StatusOr<BuildResult> Build(const Function& f) override {
    return BuildResult{f.name, "kernel", {}};
  }
  std::string CompilerVersion() const override { return "none"; }
};

// Program n takes 1000 + n nanoseconds; program 0, the fastest, is wrong.
class NumberRunner : public Runner {
 public:
  absl::StatusOr<MeasureResult> Measure(const MeasureTask&,
                                        const BuildResult& kernel,
                                        const MeasureOptions&) override {
    ++calls;
    MeasureResult result;
    const int n = std::atoi(kernel.object.c_str());
    if (n == 0) {
      result.verdict = Verdict::kWrongResult;
      result.reason = "differs";
      return result;
    }
    result.min_ns = result.median_ns = 1000 + n;
    result.samples = 3;
    return result;
  }
  int calls = 0;
};

class TunerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = ::testing::TempDir() + "/kiln_tuner_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    KILN_ASSERT_OK_AND_ASSIGN(database_, Database::Open(folder + "/db.sqlite"));
    task_.name = "numbers";
    task_.workload = {Sha256Hex("numbers"), "main", "text"};
    task_.target = "none";
    task_.flop = 1e3;
    task_.space = &space_;
    KILN_ASSERT_OK_AND_ASSIGN(task_.data, MeasureTask::Create({}, {}, {}));
  }

  absl::StatusOr<TuneState> Run(const TuneOptions& options) {
    Tuner tuner(&builder_, &runner_, database_.get(), &pool_);
    return tuner.Run(task_, options);
  }

  NumberSpace space_{kPrograms};
  NumberBuilder builder_;
  NumberRunner runner_;
  ThreadPool pool_;
  std::unique_ptr<Database> database_;
  TuneTask task_;
};

TEST_F(TunerTest, FindsTheFastestAndNeverAWrongOne) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run({{.trials = 64}}));
  EXPECT_TRUE(state.exhausted);
  EXPECT_EQ(state.trials_done, kPrograms);
  EXPECT_EQ(state.failed(), 1);
  EXPECT_EQ(state.counts[static_cast<int>(Verdict::kWrongResult)], 1);
  ASSERT_TRUE(state.best.has_value());
  EXPECT_EQ(state.best->trace, "1");
  EXPECT_DOUBLE_EQ(state.best->latency_min_ns, 1001);
  ASSERT_NE(state.best_kernel, nullptr);
  EXPECT_EQ(state.best_kernel->object, "1");
}

TEST_F(TunerTest, MeasuresNoProgramTwiceWhenItGoesOn) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState first, Run({{.trials = 8}}));
  EXPECT_EQ(first.trials_done, 8);
  runner_.calls = 0;
  KILN_ASSERT_OK_AND_ASSIGN(TuneState same, Run({{.trials = 8}}));
  EXPECT_EQ(runner_.calls, 0);
  EXPECT_EQ(same.trials_resumed, 8);
  ASSERT_EQ(same.best.has_value(), first.best.has_value());
  if (same.best) EXPECT_EQ(same.best->trace, first.best->trace);
  KILN_ASSERT_OK_AND_ASSIGN(TuneState rest, Run({{.trials = 64, .seed = 5}}));
  EXPECT_EQ(rest.trials_resumed, 8);
  EXPECT_EQ(rest.trials_done, kPrograms);
  KILN_ASSERT_OK_AND_ASSIGN(int64_t rows, database_->Count());
  EXPECT_EQ(rows, kPrograms);
  EXPECT_EQ(rest.best->trace, "1");
}

TEST_F(TunerTest, TellsTheStrategyWhatBecameOfItsCandidates) {
  Listener first(&space_, 0, &pool_);
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run({{.trials = 64}, &first}));
  ASSERT_EQ(static_cast<int>(first.told.size()), kPrograms);
  EXPECT_DOUBLE_EQ(first.told["7"], 1007e-9);
  EXPECT_EQ(first.told["0"], 0) << "a wrong one has no time";
  // Later runs hear of it before they propose anything.
  Listener second(&space_, 9, &pool_);
  KILN_ASSERT_OK_AND_ASSIGN(TuneState again, Run({{.trials = 64}, &second}));
  EXPECT_EQ(again.trials_resumed, kPrograms);
  ASSERT_EQ(second.told.size(), first.told.size());
  for (const auto& [trace, seconds] : first.told) {
    EXPECT_DOUBLE_EQ(second.told[trace], seconds) << trace;
  }
}

TEST_F(TunerTest, ChoosesTheSameForTheSameSeed) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState one, Run({{.trials = 5, .seed = 3}}));
  KILN_ASSERT_OK_AND_ASSIGN(auto records, database_->AllRecords());
  SetUp();
  KILN_ASSERT_OK_AND_ASSIGN(TuneState two, Run({{.trials = 5, .seed = 3}}));
  KILN_ASSERT_OK_AND_ASSIGN(auto again, database_->AllRecords());
  ASSERT_EQ(records.size(), again.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].trace, again[i].trace);
  }
}

TEST_F(TunerTest, StopsWithWhatItHas) {
  std::atomic<int> asked = 0;
  TuneOptions options = {{.trials = 64}};
  options.stop = [&] { return ++asked > 4; };
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run(options));
  EXPECT_TRUE(state.interrupted);
  EXPECT_LT(state.trials_done, kPrograms);
  KILN_ASSERT_OK_AND_ASSIGN(int64_t rows, database_->Count());
  EXPECT_EQ(rows, state.trials_done);
}

// Proposes one batch, in the middle of which the user has had enough.
class CutShort : public RandomSearch {
 public:
  CutShort(const Space* space, ThreadPool* pool, bool* stop)
      : RandomSearch(space, 0, pool), stop_(stop) {}
  SearchBatch Next(int count) override {
    *stop_ = true;
    return RandomSearch::Next(count);
  }

 private:
  bool* stop_;
};

TEST_F(TunerTest, MeasuresNothingOfABatchThatAnInterruptCutShort) {
  bool stop = false;
  CutShort strategy(&space_, &pool_, &stop);
  TuneOptions options = {{.trials = 64}};
  options.strategy = &strategy;
  options.stop = [&] { return stop; };
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run(options));
  EXPECT_TRUE(state.interrupted);
  EXPECT_EQ(state.trials_done, 0);
}

}  // namespace
}  // namespace kiln
