#include "kiln/vm/c_host/kiln_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace kiln {
namespace {

struct Counts {
  const KilnHost* host = nullptr;
  std::vector<std::atomic<int>> hits;
  int64_t fails_from = -1;
};

int32_t Count(void* env, int64_t begin, int64_t end) {
  auto* counts = static_cast<Counts*>(env);
  for (int64_t i = begin; i < end; ++i) {
    ++counts->hits[i];
    if (counts->fails_from >= 0 && i >= counts->fails_from) {
      return static_cast<int32_t>(i);
    }
  }
  return 0;
}

int32_t Nest(void* env, int64_t, int64_t) {
  auto* counts = static_cast<Counts*>(env);
  return counts->host->parallel_for(counts->host, 4, Count, env);
}

TEST(KilnHostTest, EveryIterationRunsOnce) {
  for (int threads : {1, 2, 3, 7, 0}) {
    const KilnHost* host = KilnHostCreate(threads);
    ASSERT_NE(host, nullptr);
    for (int64_t n : {1, 2, 3, 8, 9, 100, 1001}) {
      Counts counts{host, std::vector<std::atomic<int>>(n)};
      EXPECT_EQ(host->parallel_for(host, n, Count, &counts), 0);
      for (const auto& hits : counts.hits) EXPECT_EQ(hits, 1);
    }
    EXPECT_EQ(host->parallel_for(host, 0, Count, nullptr), 0);
    EXPECT_EQ(host->parallel_for(host, -5, Count, nullptr), 0);
    KilnHostDestroy(host);
  }
}

TEST(KilnHostTest, TheFirstFailureByPositionIsTold) {
  const KilnHost* host = KilnHostCreate(4);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Counts counts{host, std::vector<std::atomic<int>>(64), 20};
    EXPECT_EQ(host->parallel_for(host, 64, Count, &counts), 20);
  }
  KilnHostDestroy(host);
}

TEST(KilnHostTest, ALoopInALoopIsRefused) {
  for (int threads : {1, 3}) {
    const KilnHost* host = KilnHostCreate(threads);
    Counts counts{host, std::vector<std::atomic<int>>(4)};
    EXPECT_EQ(host->parallel_for(host, 8, Nest, &counts),
              KILN_KERNEL_NESTED_PARALLEL);
    EXPECT_EQ(host->parallel_for(host, 4, Count, &counts), 0);
    KilnHostDestroy(host);
  }
}

TEST(KilnHostTest, CallersFromSeveralThreadsTakeTurns) {
  const KilnHost* host = KilnDefaultHost();
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host, KilnDefaultHost());
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 300; ++repeat) {
        Counts counts{host, std::vector<std::atomic<int>>(37)};
        if (host->parallel_for(host, 37, Count, &counts) != 0) ++wrong;
        for (const auto& hits : counts.hits) wrong += hits != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(KilnHostTest, WorkspacesAreAlignedApartAndUsedAgain) {
  const KilnHost* host = KilnHostCreate(1);
  std::vector<void*> held;
  for (uint64_t bytes : {0, 1, 63, 64, 65, 5000, 100000, 7, 8, 9, 10}) {
    void* workspace = host->alloc(host, bytes);
    ASSERT_NE(workspace, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(workspace) % KILN_KERNEL_ALIGNMENT,
              0);
    std::memset(workspace, static_cast<int>(held.size()), bytes);
    held.push_back(workspace);
  }
  for (size_t i = held.size(); i-- > 0;) host->free(host, held[i]);
  void* again = host->alloc(host, 100000);
  EXPECT_EQ(again, held[6]);
  host->free(host, again);
  host->free(host, nullptr);
  EXPECT_EQ(host->alloc(host, UINT64_MAX - 8), nullptr);
  KilnHostDestroy(host);
  KilnHostDestroy(nullptr);
}

}  // namespace
}  // namespace kiln
