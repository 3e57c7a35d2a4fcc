#include "kiln/vm/library/kernel_fault.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdint>

#include "kiln/base/thread_pool.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/workspace.h"

namespace kiln {
namespace {

int32_t WriteToNothing() {
  int32_t* volatile nothing = nullptr;
  *nothing = 1;
  return 0;
}

int32_t DivideByNothing() {
  volatile int32_t nothing = 0, many = 1000;
  return many / nothing;
}

TEST(KernelFaultTest, AFaultIsTheStatusOfItsCall) {
  const KernelFaultGuard guard;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunGuarded(WriteToNothing), KILN_KERNEL_MEMORY_FAULT);
    EXPECT_EQ(RunGuarded(DivideByNothing), KILN_KERNEL_DIVISION_FAULT);
    EXPECT_EQ(RunGuarded([] { return int32_t{7}; }), 7);
  }
}

TEST(KernelFaultTest, WorkspacesOfTheCallAreGivenBack) {
  const KernelFaultGuard guard;
  WorkspaceStack& stack = ThisThreadsWorkspaces();
  void* const kept = stack.Allocate(100);
  EXPECT_EQ(RunGuarded([&] {
              stack.Allocate(200);
              stack.Allocate(300 << 10);
              return WriteToNothing();
            }),
            KILN_KERNEL_MEMORY_FAULT);
  EXPECT_EQ(stack.depth(), 1u);
  stack.Free(kept);
  EXPECT_EQ(stack.depth(), 0u);
}

TEST(KernelFaultTest, AnIterationOfAParallelLoopMayFaultInAnyThread) {
  const KernelFaultGuard guard;
  ThreadPool pool(ThreadPool::Options{.num_threads = 3});
  const KernelHost host(&pool);
  std::atomic<int> done{0};
  const KilnParallelBody body = [](void* env, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i % 7 == 3) return WriteToNothing();
      ++*static_cast<std::atomic<int>*>(env);
    }
    return int32_t{0};
  };
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(RunGuarded([&] {
                return host.abi()->parallel_for(host.abi(), 64, body, &done);
              }),
              KILN_KERNEL_MEMORY_FAULT);
  }
  done = 0;
  EXPECT_EQ(host.abi()->parallel_for(host.abi(), 3, body, &done), 0);
  EXPECT_EQ(done, 3);
}

TEST(KernelFaultTest, TheOuterOfTwoCallsGoesOnAfterAFaultOfTheInner) {
  const KernelFaultGuard guard;
  EXPECT_EQ(RunGuarded([] {
              EXPECT_EQ(RunGuarded(WriteToNothing), KILN_KERNEL_MEMORY_FAULT);
              return DivideByNothing();
            }),
            KILN_KERNEL_DIVISION_FAULT);
}

TEST(KernelFaultDeathTest, FaultsOutsideOfKernelsAreNotAnswered) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        const KernelFaultGuard guard;
        WriteToNothing();
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(KernelFaultDeathTest, NorIsAnythingOnceTheLastGuardIsGone) {
  EXPECT_EXIT(
      {
        signal(SIGSEGV, SIG_DFL);
        {
          const KernelFaultGuard guard;
          {
            const KernelFaultGuard second;
          }
          EXPECT_EQ(RunGuarded(WriteToNothing), KILN_KERNEL_MEMORY_FAULT);
        }
        RunGuarded(WriteToNothing);
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace kiln
