#include "kiln/vm/library/kernel_fault.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace kiln {
namespace {

TEST(KernelFaultDeathTest, AFaultEndsTheProcessWithAMessage) {
  EXPECT_EXIT(
      {
        KernelFaultMessage message("mm");
        raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(1), "function mm reached outside");
  EXPECT_EXIT(
      {
        KernelFaultMessage message("mm");
        raise(SIGFPE);
      },
      ::testing::ExitedWithCode(1), "divided an integer by zero");
}

TEST(KernelFaultDeathTest, LaterFaultsAreNotTheKernels) {
  EXPECT_EXIT(
      {
        {
          KernelFaultMessage message("mm");
        }
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace kiln
