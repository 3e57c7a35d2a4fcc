#include "kiln/base/affinity.h"

#include <thread>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(AffinityTest, AMaskNamesItsCpusInOrder) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_TRUE(CpusOf(mask).empty());
  for (int cpu : {CPU_SETSIZE - 1, 5, 0, 64}) CPU_SET(cpu, &mask);
  EXPECT_EQ(CpusOf(mask), (std::vector<int>{0, 5, 64, CPU_SETSIZE - 1}));
}

TEST(AffinityTest, AThreadTiedToACpuMayRunThereOnly) {
  const std::vector<int> before = AllowedCpus();
  ASSERT_FALSE(before.empty());
  std::vector<int> tied;
  std::thread thread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(before.back(), &mask);
    if (sched_setaffinity(0, sizeof(mask), &mask) == 0) tied = AllowedCpus();
  });
  thread.join();
  EXPECT_EQ(tied, std::vector<int>{before.back()});
  EXPECT_EQ(AllowedCpus(), before);
}

}  // namespace
}  // namespace kiln
