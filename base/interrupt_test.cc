#include "kiln/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace kiln {
namespace {

class InterruptTest : public ::testing::Test {
 protected:
  void SetUp() override { InstallInterruptHandler(); }
  void TearDown() override { ResetInterruptHandler(); }
};

TEST_F(InterruptTest, IsSetByEitherSignal) {
  for (int signal : {SIGINT, SIGTERM}) {
    InstallInterruptHandler();
    EXPECT_FALSE(Interrupted());
    raise(signal);
    EXPECT_TRUE(Interrupted());
    EXPECT_EQ(InterruptSignal(), signal);
    ResetInterruptHandler();
    EXPECT_EQ(InterruptSignal(), 0);
  }
}

TEST_F(InterruptTest, IsSetByHand) {
  Interrupt();
  EXPECT_TRUE(Interrupted());
}

TEST_F(InterruptTest, WakesAWaitingCall) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pthread_t waiting = pthread_self();
  std::thread sender([waiting] {
    usleep(50'000);
    pthread_kill(waiting, SIGINT);
  });
  char byte;
  EXPECT_EQ(read(ends[0], &byte, 1), -1);
  EXPECT_EQ(errno, EINTR);
  sender.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(InterruptDeathTest, TheFirstSignalIsAcknowledgedAtOnce) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler("ends soon\n");
        raise(SIGINT);
        _exit(InterruptSignal());
      },
      ::testing::ExitedWithCode(SIGINT), "^ends soon\n$");
}

TEST(InterruptDeathTest, ASecondSignalEnds) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler();
        raise(SIGINT);
        raise(SIGINT);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, AChildCanTakeTheUsualMeaningBack) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler();
        ResetInterruptHandler();
        raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace kiln
