// A small product with open rows is tuned at two sizes. The program that comes
// of it computes what the function means, for these sizes and others; records
// and files are where they are looked for; a run that is stopped goes on.
#include "kiln/tools/tuning/tune_sizes.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/by_size.h"
#include "kiln/search/database/database.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/record_target.h"
#include "kiln/tools/tuning/work_dir.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDense[] = R"(
@T.prim_func
def dense(x: T.handle, w: T.Buffer((24, 16), "float32"), y: T.handle):
    T.func_attr({"tir.noalias": True})
    n = T.int64()
    X = T.match_buffer(x, (n, 24), "float32")
    Y = T.match_buffer(y, (n, 16), "float32")
    for i, j, k in T.grid(n, 16, 24):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * w[vk, vj]
)";

// Names of tasks, in the order in which they begin, and of the last table.
class NamesView : public TuneView {
 public:
  void Start(const TuneTask& task, const std::string&, const std::string&,
             const TuneState&) override {
    started.push_back(task.name);
  }
  void Trial(const TuneState&, const TuningRecord&) override { ++trials; }
  void Done(const TuneState&) override {}
  void End(const std::vector<TuneState>& states) override {
    for (const TuneState& state : states) ended.push_back(state.task);
  }

  std::vector<std::string> started, ended;
  int trials = 0;
};

class TuneSizesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/tune_sizes_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    // Measured once: default schedules are the same in all runs of a test.
    setenv("KILN_MACHINE", (::testing::TempDir() + "/machine.json").c_str(), 1);
    dense_ = *ParseFunction("dense", kDense);
  }

  TuneAllRequest Request() const {
    TuneAllRequest request;
    request.jobs = {JobOf(dense_)};
    request.jobs[0].sizes = {{1}, {40}};
    request.target = HostTarget();
    request.trials_per_task = 6;
    request.work_dir = folder_;
    return request;
  }

  // One element of the product of n rows, by the interpreter.
  static std::string Output(const Function& f, int64_t n) {
    std::vector<Tensor> args;
    args.emplace_back(DType::Float(32), std::vector<int64_t>{n, 24});
    args.emplace_back(DType::Float(32), std::vector<int64_t>{24, 16});
    args.emplace_back(DType::Float(32), std::vector<int64_t>{n, 16});
    for (Tensor* arg : {&args[0], &args[1]}) {
      auto* data = reinterpret_cast<float*>(arg->bytes.data());
      for (int64_t i = 0; i < arg->size(); ++i) {
        data[i] = static_cast<float>(i * i % 7);
      }
    }
    KILN_EXPECT_OK(Interpret(f, args));
    return {args[2].bytes.begin(), args[2].bytes.end()};
  }

  std::string folder_;
  Function dense_;
};

TEST_F(TuneSizesTest, OneProgramServesAllSizes) {
  NamesView view;
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuneOutcome> outcomes,
                            RunTuneSizes(Request(), &view));
  EXPECT_THAT(view.started, ElementsAre("dense_n1", "dense_n40", "dense_any_n1",
                                        "dense_any_n40"));
  EXPECT_THAT(view.ended, ElementsAre("dense"));
  ASSERT_EQ(outcomes.size(), 1u);
  for (const int64_t n : {1, 2, 6, 7, 39, 40, 41}) {
    EXPECT_EQ(Output(outcomes[0].best, n), Output(dense_, n)) << n;
  }
  KILN_ASSERT_OK_AND_ASSIGN(const std::string saved,
                            ReadFile(folder_ + "/dense/best.py"));
  EXPECT_THAT(saved, HasSubstr("def dense"));

  KILN_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                            Database::Open(WorkDir::DatabaseIn(folder_)));
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::vector<TimedRecords> timed,
      FindTimed(*database, dense_, RecordTarget(HostTarget())));
  ASSERT_EQ(timed.size(), 2u);
  EXPECT_EQ(timed[0].size, DimSize{1});
  EXPECT_EQ(timed[0].records.size(), timed[1].records.size());

  NamesView again;
  KILN_ASSERT_OK(RunTuneSizes(Request(), &again));
  EXPECT_EQ(again.trials, 0);
}

TEST_F(TuneSizesTest, AStoppedRunGoesOn) {
  NamesView view;
  TuneAllRequest request = Request();
  request.stop = [&] { return view.trials >= 3; };
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<TuneOutcome> outcomes,
                            RunTuneSizes(request, &view));
  EXPECT_EQ(outcomes[0].best_trace, "");
  KILN_ASSERT_OK_AND_ASSIGN(outcomes, RunTuneSizes(Request(), &view));
  EXPECT_NE(outcomes[0].best_trace, "");
}

TEST_F(TuneSizesTest, WithoutTrialsTheDefaultScheduleIsTaken) {
  NamesView view;
  TuneAllRequest request = Request();
  request.trials_per_task = 0;
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuneOutcome> outcomes,
                            RunTuneSizes(request, &view));
  EXPECT_EQ(view.trials, 0);
  EXPECT_EQ(Output(outcomes[0].best, 5), Output(dense_, 5));
}

TEST_F(TuneSizesTest, InputsAreOfOneSize) {
  NamesView view;
  TuneAllRequest request = Request();
  request.inputs = {"random:4x24xf32"};
  EXPECT_EQ(RunTuneSizes(request, &view).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
