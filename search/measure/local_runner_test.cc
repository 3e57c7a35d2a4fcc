#include "kiln/search/measure/local_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::AffineTask;
using ::kiln::testing::TestKernel;
using ::testing::HasSubstr;

class LocalRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    KILN_ASSERT_OK_AND_ASSIGN(runner_, LocalRunner::Create());
  }

  MeasureResult Measure(const std::string& kernel) {
    auto result = runner_->Measure(*task_, TestKernel(kernel), options_);
    KILN_EXPECT_OK(result);
    return result.value_or(MeasureResult());
  }

  void ExpectVerdict(const std::string& kernel, Verdict verdict,
                     const std::string& reason) {
    const MeasureResult result = Measure(kernel);
    EXPECT_EQ(VerdictName(result.verdict), VerdictName(verdict)) << kernel;
    EXPECT_THAT(result.reason, HasSubstr(reason)) << kernel;
    if (verdict != Verdict::kOk) {
      EXPECT_EQ(result.samples, 0);
      EXPECT_EQ(result.min_ns, 0);
    }
  }

  std::unique_ptr<LocalRunner> runner_;
  // 4000 bytes: neither whole pages nor a multiple of the alignment.
  std::shared_ptr<const MeasureTask> task_ = AffineTask(1000);
  MeasureOptions options_;
};

TEST_F(LocalRunnerTest, AGoodKernelIsTimed) {
  for (const char* name : {"good", "parallel", "workspace"}) {
    options_.num_threads = 2;
    const MeasureResult result = Measure(name);
    EXPECT_EQ(VerdictName(result.verdict), "ok") << result.reason;
    EXPECT_GT(result.min_ns, 0);
    EXPECT_GE(result.median_ns, result.min_ns);
    EXPECT_GE(result.spread_ns, 0);
    EXPECT_GE(result.samples, options_.min_samples);
    EXPECT_LE(result.samples, options_.max_samples);
    EXPECT_LT(result.check_seconds, result.seconds);
  }
  EXPECT_EQ(runner_->replaced_workers(), 0);
}

TEST_F(LocalRunnerTest, AWrongElementIsFound) {
  ExpectVerdict("last_wrong", Verdict::kWrongResult,
                "B[999] is 501.5, expected 500.5 (1 of 1000");
  options_.check = false;
  ExpectVerdict("last_wrong", Verdict::kOk, "");
}

TEST_F(LocalRunnerTest, LeavingTheBuffersIsFoundInSlackAndInGuardPages) {
  ExpectVerdict("one_too_many", Verdict::kOutOfBounds, "after its end");
  ExpectVerdict("writes_input", Verdict::kOutOfBounds,
                "byte 0 of the read-only buffer A");
  task_ = AffineTask(1024);
  ExpectVerdict("one_too_many", Verdict::kOutOfBounds,
                "wrote 0 bytes past the end of buffer B");
  EXPECT_EQ(runner_->replaced_workers(), 3);
  ExpectVerdict("good", Verdict::kOk, "");
}

TEST_F(LocalRunnerTest, WhatHasPassedIsTimedWithoutGuards) {
  options_.check = false;
  options_.guarded = false;
  ExpectVerdict("writes_input", Verdict::kOk, "");
}

TEST_F(LocalRunnerTest, ACrashAfterTheCheckIsACrashToo) {
  ExpectVerdict("crashes_when_timed", Verdict::kCrash,
                "SIGSEGV at address 0x10");
}

TEST_F(LocalRunnerTest, AWrongResultAfterTheCheckIsFound) {
  ExpectVerdict("wrong_when_timed", Verdict::kWrongResult,
                "but not in the first call");
}

TEST_F(LocalRunnerTest, KernelsThatCannotBeLoadedAreBuildErrors) {
  ExpectVerdict("no_such_kernel", Verdict::kBuildError, "no_such_kernel");
  BuildResult kernel = TestKernel("good");
  kernel.signature.buffers[1].shape = {KernelDim::Constant(7)};
  auto result = runner_->Measure(*task_, kernel, options_);
  KILN_ASSERT_OK(result);
  EXPECT_EQ(result->verdict, Verdict::kBuildError);
}

TEST_F(LocalRunnerTest, HopelessKernelsAreSampledOnce) {
  task_ = AffineTask(100000);
  const MeasureResult good = Measure("good");
  options_.best_ns = good.min_ns;
  const MeasureResult slow = Measure("slow");
  EXPECT_EQ(slow.verdict, Verdict::kOk);
  EXPECT_EQ(slow.samples, 1);
  EXPECT_GT(slow.min_ns, 50 * good.min_ns);
}

TEST_F(LocalRunnerTest, BeatenKernelsAreSampledAFewTimes) {
  task_ = AffineTask(100000);
  options_.best_ns = 1;  // nothing comes near
  options_.hopeless_factor = 1e12;
  options_.beaten_ms = 1e-6;
  const MeasureResult beaten = Measure("good");
  EXPECT_EQ(beaten.verdict, Verdict::kOk);
  EXPECT_LT(beaten.samples, options_.max_samples);
  EXPECT_GT(beaten.min_ns, 0);
}

TEST_F(LocalRunnerTest, TheDeadlineIsKept) {
  task_ = AffineTask(1 << 22);
  options_.deadline_s = 0.1;
  ExpectVerdict("slow", Verdict::kTimeout, "no end within 0.1 s");
  options_.deadline_s = 0;
  ExpectVerdict("good", Verdict::kOk, "");
}

// "slow" on so much data runs for the better part of a minute.
TEST_F(LocalRunnerTest, AnInterruptEndsARun) {
  task_ = AffineTask(1 << 22);
  int asked = 0;
  KILN_ASSERT_OK_AND_ASSIGN(
      runner_, LocalRunner::Create({.stop = [&] { return ++asked > 2; }}));
  options_.deadline_s = 1000;
  EXPECT_EQ(runner_->Run(*task_, TestKernel("slow"), options_).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(runner_->replaced_workers(), 1);
}

TEST_F(LocalRunnerTest, TasksTakeTurns) {
  const auto first = task_;
  const auto second = AffineTask(77);
  for (int i = 0; i < 3; ++i) {
    task_ = i % 2 ? second : first;
    ExpectVerdict("good", Verdict::kOk, "");
  }
}

TEST_F(LocalRunnerTest, AnIdleWorkerKilledByHandCostsNoCandidate) {
  ExpectVerdict("good", Verdict::kOk, "");
  const pid_t worker = runner_->worker_pid();
  kill(worker, SIGKILL);
  testing::WaitForEnd(worker);
  ExpectVerdict("good", Verdict::kOk, "");
  EXPECT_EQ(runner_->replaced_workers(), 1);
}

TEST_F(LocalRunnerTest, EmptyTensorsAreFine) {
  task_ = AffineTask(0);
  ExpectVerdict("good", Verdict::kOk, "");
}

TEST_F(LocalRunnerTest, OutputsMayHaveContentsBeforeTheCall) {
  const std::vector<float> input(10, 1), initial(10, 5), expected(10, 3);
  const auto bytes = [](const std::vector<float>& v) {
    return absl::Span<const char>(reinterpret_cast<const char*>(v.data()),
                                  v.size() * 4);
  };
  const TaskTensor tensors[] = {{bytes(input), {}, {}},
                                {bytes(initial), bytes(expected), {}}};
  KILN_ASSERT_OK_AND_ASSIGN(
      task_, MeasureTask::Create(testing::AffineSignature(), {10}, tensors));
  ExpectVerdict("good", Verdict::kOk, "");
  ExpectVerdict("last_wrong", Verdict::kWrongResult, "B[9] is 4");
}

TEST(MeasureTaskTest, RefusesTensorsThatDoNotFitTheSignature) {
  const KernelSignature signature = testing::AffineSignature();
  const char bytes[40] = {};
  TaskTensor a, b;
  a.initial = bytes;
  const auto create = [&](std::vector<int64_t> scalars,
                          std::vector<TaskTensor> tensors) {
    return MeasureTask::Create(signature, scalars, tensors).status();
  };
  using absl::StatusCode;
  KILN_EXPECT_OK(create({10}, {a, b}));
  EXPECT_THAT(create({9}, {a, b}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("36 bytes")));
  EXPECT_THAT(create({10}, {a}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("2 buffers")));
  EXPECT_THAT(create({}, {a, b}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("1 scalars")));
  EXPECT_THAT(create({10}, {b, b}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("only read")));
  EXPECT_THAT(create({-1}, {a, b}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("negative")));
  EXPECT_THAT(create({int64_t{1} << 60}, {a, b}),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("larger")));
}

}  // namespace
}  // namespace kiln
