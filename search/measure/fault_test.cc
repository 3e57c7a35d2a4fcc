// The promise to a tuning run: whatever 200 candidates do, each costs only
// itself, is recorded by its cause, and nothing of it stays behind.
#include "kiln/search/measure/fault.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::AffineTask;
using ::kiln::testing::TestKernel;

std::set<std::string> ListFolder(const std::string& path) {
  std::set<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) names.insert(entry->d_name);
  closedir(folder);
  return names;
}

// Servers and workers that this program became and that run, by their names.
std::set<std::string> MeasuringProcesses() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  std::set<std::string> found;
  for (const std::string& pid : ListFolder("/proc")) {
    const auto exe =
        std::filesystem::read_symlink("/proc/" + pid + "/exe", error);
    if (error || exe != self) continue;
    std::ifstream in("/proc/" + pid + "/comm");
    std::string name;
    std::getline(in, name);
    if (name.rfind("kiln-", 0) == 0) found.insert(pid);
  }
  return found;
}

size_t OpenFiles() { return ListFolder("/proc/self/fd").size(); }

bool HasChildren() {
  return waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD;
}

MeasureOptions ShortOptions() {
  MeasureOptions options;
  options.num_threads = 2;
  options.deadline_s = 0.5;
  options.budget_ms = 2;
  return options;
}

TEST(FaultTest, EveryKindEndsInItsVerdictAndTheNextKernelIsMeasured) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  FaultInjectingRunner faulty(runner.get());
  const auto task = AffineTask(1000);
  for (int i = 0; i < kNumFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    SCOPED_TRACE(std::string(FaultName(kind)));
    EXPECT_EQ(ParseFault(FaultName(kind)), kind);
    KILN_ASSERT_OK_AND_ASSIGN(
        const MeasureResult bad,
        faulty.MeasureFault(kind, *task, TestKernel("good"), ShortOptions()));
    EXPECT_EQ(VerdictName(bad.verdict), VerdictName(ExpectedVerdict(kind)))
        << bad.reason;
    EXPECT_FALSE(bad.reason.empty());
    KILN_ASSERT_OK_AND_ASSIGN(
        const MeasureResult good,
        runner->Measure(*task, TestKernel("parallel"), ShortOptions()));
    EXPECT_EQ(VerdictName(good.verdict), "ok") << good.reason;
  }
}

TEST(FaultTest, TwoHundredFaultsAreRecordedByCauseAndLeaveNothingBehind) {
  const std::set<std::string> shared_before = ListFolder("/dev/shm");
  const std::set<std::string> running_before = MeasuringProcesses();
  const size_t files_before = OpenFiles();
  constexpr int kFaults = 200;
  {
    KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
    FaultInjectingRunner faulty(runner.get(),
                                [](int64_t call) { return call % 5 != 4; });
    const auto task = AffineTask(5000);
    MeasureOptions options = ShortOptions();
    options.deadline_s = 0.3;
    for (int call = 0; faulty.injected() < kFaults; ++call) {
      const bool injected = call % 5 != 4;
      const auto kind =
          static_cast<FaultKind>(faulty.injected() % kNumFaultKinds);
      KILN_ASSERT_OK_AND_ASSIGN(
          const MeasureResult result,
          faulty.Measure(*task, TestKernel("good"), options));
      const Verdict expected = injected ? ExpectedVerdict(kind) : Verdict::kOk;
      EXPECT_EQ(VerdictName(result.verdict), VerdictName(expected))
          << call << " " << FaultName(kind) << ": " << result.reason;
    }
    EXPECT_GT(runner->replaced_workers(), 150);
  }
  EXPECT_FALSE(HasChildren());
  EXPECT_EQ(MeasuringProcesses(), running_before);
  EXPECT_EQ(ListFolder("/dev/shm"), shared_before);
  EXPECT_EQ(OpenFiles(), files_before);
}

TEST(FaultTest, AKilledTunerLeavesNoProcessBehind) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const std::set<std::string> running_before = MeasuringProcesses();
  const pid_t tuner = fork();
  if (tuner == 0) {
    auto runner = LocalRunner::Create();
    const auto task = AffineTask(100);
    MeasureOptions options;
    options.deadline_s = 100;
    if (write(ready[1], "x", 1) != 1) _exit(1);
    (void)FaultInjectingRunner(runner->get())
        .MeasureFault(FaultKind::kInfiniteLoop, *task, TestKernel("good"),
                      options);
    _exit(0);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  while (MeasuringProcesses().size() < running_before.size() + 3) {
    std::this_thread::yield();
  }
  kill(tuner, SIGKILL);
  waitpid(tuner, nullptr, 0);
  while (MeasuringProcesses() != running_before) std::this_thread::yield();
  close(ready[0]);
  close(ready[1]);
}

TEST(FaultTest, AProcessThatAKernelForksDiesWithItsWorker) {
  const std::set<std::string> running_before = MeasuringProcesses();
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  const size_t running = MeasuringProcesses().size();
  const auto task = AffineTask(100);
  KILN_ASSERT_OK_AND_ASSIGN(
      const MeasureResult result,
      runner->Measure(*task, TestKernel("escapes"), ShortOptions()));
  EXPECT_EQ(VerdictName(result.verdict), "run_error") << result.reason;
  EXPECT_EQ(MeasuringProcesses().size(), running);
  runner.reset();
  EXPECT_EQ(MeasuringProcesses(), running_before);
}

TEST(FaultTest, AKilledForkServerIsReplaced) {
  KILN_ASSERT_OK_AND_ASSIGN(auto runner, LocalRunner::Create());
  const auto task = AffineTask(100);
  // The server is the parent of the worker.
  std::ifstream in("/proc/" + std::to_string(runner->worker_pid()) + "/stat");
  std::string pid, name, state;
  pid_t server = 0;
  in >> pid >> name >> state >> server;
  ASSERT_GT(server, 1);
  ASSERT_NE(server, getpid());
  kill(server, SIGKILL);
  testing::WaitForEnd(server);
  KILN_ASSERT_OK_AND_ASSIGN(
      const MeasureResult result,
      runner->Measure(*task, TestKernel("good"), ShortOptions()));
  EXPECT_EQ(VerdictName(result.verdict), "ok") << result.reason;
}

}  // namespace
}  // namespace kiln
