#include "kiln/search/task/tuner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
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

namespace kiln {
namespace {

constexpr int kPrograms = 20;

// Programs 0 to 19, each met many times.
class NumberSpace : public Space {
 public:
  absl::StatusOr<Candidate> Sample(uint64_t seed,
                                   uint64_t index) const override {
    Candidate c;
    c.scheduled.name = absl::StrCat(RandomBits(seed, index, 0) % kPrograms);
    c.program_hash = Sha256Hex(c.scheduled.name);
    c.trace = c.decisions = c.scheduled.name;
    return c;
  }
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

  NumberSpace space_;
  NumberBuilder builder_;
  NumberRunner runner_;
  ThreadPool pool_;
  std::unique_ptr<Database> database_;
  TuneTask task_;
};

TEST_F(TunerTest, FindsTheFastestAndNeverAWrongOne) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run({.trials = 64}));
  EXPECT_TRUE(state.exhausted);
  EXPECT_EQ(state.trials_done, kPrograms);
  EXPECT_EQ(state.failed(), 1);
  EXPECT_EQ(state.counts[static_cast<int>(Verdict::kWrongResult)], 1);
  ASSERT_TRUE(state.best.has_value());
  EXPECT_EQ(state.best->trace, "1");
  EXPECT_DOUBLE_EQ(state.best->latency_min_ns, 1001);
}

TEST_F(TunerTest, MeasuresNoProgramTwiceWhenItGoesOn) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState first, Run({.trials = 8}));
  EXPECT_EQ(first.trials_done, 8);
  runner_.calls = 0;
  KILN_ASSERT_OK_AND_ASSIGN(TuneState same, Run({.trials = 8}));
  EXPECT_EQ(runner_.calls, 0);
  EXPECT_EQ(same.trials_resumed, 8);
  ASSERT_EQ(same.best.has_value(), first.best.has_value());
  if (same.best) EXPECT_EQ(same.best->trace, first.best->trace);
  KILN_ASSERT_OK_AND_ASSIGN(TuneState rest, Run({.trials = 64, .seed = 5}));
  EXPECT_EQ(rest.trials_resumed, 8);
  EXPECT_EQ(rest.trials_done, kPrograms);
  KILN_ASSERT_OK_AND_ASSIGN(int64_t rows, database_->Count());
  EXPECT_EQ(rows, kPrograms);
  EXPECT_EQ(rest.best->trace, "1");
}

TEST_F(TunerTest, ChoosesTheSameForTheSameSeed) {
  KILN_ASSERT_OK_AND_ASSIGN(TuneState one, Run({.trials = 5, .seed = 3}));
  KILN_ASSERT_OK_AND_ASSIGN(auto records, database_->AllRecords());
  SetUp();
  KILN_ASSERT_OK_AND_ASSIGN(TuneState two, Run({.trials = 5, .seed = 3}));
  KILN_ASSERT_OK_AND_ASSIGN(auto again, database_->AllRecords());
  ASSERT_EQ(records.size(), again.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].trace, again[i].trace);
  }
}

TEST_F(TunerTest, StopsWithWhatItHas) {
  std::atomic<int> asked = 0;
  TuneOptions options = {.trials = 64};
  options.stop = [&] { return ++asked > 4; };
  KILN_ASSERT_OK_AND_ASSIGN(TuneState state, Run(options));
  EXPECT_TRUE(state.interrupted);
  EXPECT_LT(state.trials_done, kPrograms);
  KILN_ASSERT_OK_AND_ASSIGN(int64_t rows, database_->Count());
  EXPECT_EQ(rows, state.trials_done);
}

}  // namespace
}  // namespace kiln
