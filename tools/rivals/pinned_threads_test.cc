#include "kiln/tools/rivals/pinned_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

namespace kiln::bench {
namespace {

int NumCpus() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  return CPU_COUNT(&set);
}

// A thread that spins until it is told to stop.
class Spinner {
 public:
  Spinner() : thread_([this] { Spin(); }) {}
  ~Spinner() {
    stop_ = true;
    thread_.join();
  }
  int cpus() const {
    cpu_set_t set;
    pthread_getaffinity_np(const_cast<std::thread&>(thread_).native_handle(),
                           sizeof(set), &set);
    return CPU_COUNT(&set);
  }
  bool may_use_first_cpu() const {
    cpu_set_t caller, set;
    sched_getaffinity(0, sizeof(caller), &caller);
    pthread_getaffinity_np(const_cast<std::thread&>(thread_).native_handle(),
                           sizeof(set), &set);
    CPU_AND(&set, &set, &caller);
    return CPU_COUNT(&set) > 0;
  }

 private:
  void Spin() {
    while (!stop_) {
    }
  }
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(PinnedThreads, TheCallerAndItsWorkerStandOnCpusOfTheirOwn) {
  const int cpus = NumCpus();
  if (cpus < 2) GTEST_SKIP() << "needs two CPUs";
  Spinner spinner;
  {
    const PinnedThreads pinned(2);
    EXPECT_EQ(NumCpus(), 1);
    EXPECT_EQ(spinner.cpus(), 1);
    EXPECT_FALSE(spinner.may_use_first_cpu());
  }
  EXPECT_EQ(NumCpus(), cpus);
}

TEST(PinnedThreads, OneThreadGoesWhereItLikes) {
  const int cpus = NumCpus();
  Spinner spinner;
  const PinnedThreads pinned(1);
  EXPECT_EQ(NumCpus(), cpus);
  EXPECT_EQ(spinner.cpus(), cpus);
}

TEST(PinnedThreads, MoreThreadsThanCpusAreLeftAlone) {
  const int cpus = NumCpus();
  const PinnedThreads pinned(cpus + 1);
  EXPECT_EQ(NumCpus(), cpus);
}

}  // namespace
}  // namespace kiln::bench
