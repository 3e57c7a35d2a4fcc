#include "kiln/vm/library/kernel_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <vector>

namespace kiln {
namespace {

class KernelHostTest : public ::testing::Test {
 protected:
  static ThreadPool::Options TwoThreads() {
    ThreadPool::Options options;
    options.num_threads = 2;
    return options;
  }
  void* Alloc(uint64_t bytes) { return host_.abi()->alloc(host_.abi(), bytes); }
  void Free(void* workspace) { host_.abi()->free(host_.abi(), workspace); }

  ThreadPool pool_{TwoThreads()};
  KernelHost host_{&pool_};
};

struct Count {
  const KilnHost* host;
  std::atomic<int64_t> iterations{0};
  std::atomic<int> parts{0};
};

int32_t CountBody(void* env, int64_t begin, int64_t end) {
  auto* count = static_cast<Count*>(env);
  count->iterations += end - begin;
  ++count->parts;
  return 0;
}

int32_t NestedBody(void* env, int64_t, int64_t) {
  const KilnHost* host = static_cast<Count*>(env)->host;
  return host->parallel_for(host, 2, &CountBody, env);
}

TEST_F(KernelHostTest, SplitsLoopsOverThePool) {
  Count count{host_.abi()};
  EXPECT_EQ(host_.abi()->parallel_for(host_.abi(), 9, &CountBody, &count), 0);
  EXPECT_EQ(count.iterations, 9);
  EXPECT_GE(count.parts, 2);
}

TEST_F(KernelHostTest, HonoursItsOwnThreadLimit) {
  KernelHost one(&pool_, 1);
  EXPECT_EQ(one.num_threads(), 1);
  Count count{one.abi()};
  EXPECT_EQ(one.abi()->parallel_for(one.abi(), 9, &CountBody, &count), 0);
  EXPECT_EQ(count.parts, 1);
}

TEST_F(KernelHostTest, RefusesNestedParallelism) {
  Count count{host_.abi()};
  EXPECT_EQ(host_.abi()->parallel_for(host_.abi(), 2, &NestedBody, &count),
            KILN_KERNEL_NESTED_PARALLEL);
  EXPECT_EQ(count.iterations, 0);
}

TEST_F(KernelHostTest, UsesWorkspaceAgain) {
  KernelHost::ReleaseWorkspace();
  void* first = Alloc(1000);
  void* second = Alloc(5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 64, 0u);
  EXPECT_NE(first, second);
  Free(second);
  Free(first);
  EXPECT_EQ(Alloc(1000), first);
  Free(first);
}

TEST_F(KernelHostTest, JoinsBlocksOnceEmptySoThatGrowthStops) {
  KernelHost::ReleaseWorkspace();
  EXPECT_EQ(KernelHost::WorkspaceBytes(), 0u);
  const auto call = [&] {
    void* a = Alloc(1 << 20);
    void* b = Alloc(3 << 20);
    void* c = Alloc(70);
    Free(c);
    Free(b);
    Free(a);
  };
  call();
  call();
  const uint64_t settled = KernelHost::WorkspaceBytes();
  void* first = Alloc(1 << 20);
  Free(first);
  for (int i = 0; i < 10; ++i) call();
  EXPECT_EQ(KernelHost::WorkspaceBytes(), settled);
  EXPECT_EQ(Alloc(1 << 20), first);
  Free(first);
}

TEST_F(KernelHostTest, GivesNullForImpossibleSizesAndStaysUsable) {
  EXPECT_EQ(Alloc(UINT64_MAX), nullptr);
  EXPECT_EQ(Alloc(uint64_t{1} << 60), nullptr);
  void* small = Alloc(0);
  EXPECT_NE(small, nullptr);
  Free(small);
  Free(nullptr);
}

TEST_F(KernelHostTest, WorkspacesNeverOverlapWhateverTheOrderOfFree) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<std::pair<char*, uint64_t>> live;
  for (int i = 0; i < 5000; ++i) {
    if (live.empty() || random() % 2 == 0) {
      const uint64_t bytes = random() % (random() % 10 ? 2000 : 200000);
      char* memory = static_cast<char*>(Alloc(bytes));
      ASSERT_NE(memory, nullptr);
      for (const auto& [other, size] : live) {
        ASSERT_TRUE(memory + bytes <= other || other + size <= memory);
      }
      std::memset(memory, 7, bytes);
      live.push_back({memory, bytes});
    } else {
      const size_t pick = random() % live.size();
      Free(live[pick].first);
      live.erase(live.begin() + pick);
    }
  }
  for (const auto& [memory, bytes] : live) Free(memory);
}

}  // namespace
}  // namespace kiln
