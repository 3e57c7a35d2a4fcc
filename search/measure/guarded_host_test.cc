#include "kiln/search/measure/guarded_host.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/thread_pool.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

// More than are unmapped when they are given back.
constexpr int kMany = 200;
constexpr uint64_t kBytes = 100;

class GuardedHostTest : public ::testing::Test {
 protected:
  char* Alloc() { return static_cast<char*>(abi()->alloc(abi(), kBytes)); }
  void Free(void* workspace) { abi()->free(abi(), workspace); }
  const KilnHost* abi() const { return guarded_.abi(); }

  ThreadPool pool_{ThreadPool::Options{.num_threads = 1}};
  KernelHost host_{&pool_};
  GuardedHost guarded_{host_.abi(), Filler::kLow};
};

TEST_F(GuardedHostTest, EachWorkspaceHoldsTheFillerAtFirst) {
  for (int i = 0; i < kMany; ++i) {
    char* data = Alloc();
    ASSERT_NE(data, nullptr);
    for (uint64_t b = 0; b < kBytes; ++b) {
      ASSERT_EQ(static_cast<uint8_t>(data[b]), 0xfe) << i << " " << b;
    }
    std::memset(data, 1, kBytes);
    Free(data);
  }
  EXPECT_EQ(guarded_.CheckWorkspaces(), std::nullopt);
}

TEST_F(GuardedHostTest, WorkspacesThatAreHeldTogetherAreDifferent) {
  for (int i = 0; i < kMany; ++i) {
    char* a = Alloc();
    char* b = Alloc();
    ASSERT_NE(a, b);
    Free(a);
    Free(b);
  }
}

TEST_F(GuardedHostTest, AnOverrunShowsInALaterWorkspaceToo) {
  for (int i = 0; i < kMany; ++i) Free(Alloc());
  char* data = Alloc();
  data[-1] = 0;
  Free(data);
  EXPECT_THAT(guarded_.CheckWorkspaces(), Optional(HasSubstr("workspace")));
}

TEST_F(GuardedHostTest, WhatWasGivenBackIsNotGivenBackAgain) {
  for (int i = 0; i < kMany; ++i) Free(Alloc());
  char* data = Alloc();
  Free(data);
  Free(data);
  EXPECT_THAT(guarded_.CheckWorkspaces(), Optional(HasSubstr("gave back")));
}

#if defined(__x86_64__)

uint32_t UpperPartsInUse() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  constexpr uint32_t kUpperYmm = 1 << 2, kUpperZmm = 1 << 6;
  return low & (kUpperYmm | kUpperZmm);
}

// Whether this processor tells which registers are in their first state. It may
// always say that some are in use.
bool TellsRegistersInUse() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__builtin_cpu_supports("avx512f") ||
      __get_cpuid_count(0xd, 1, &a, &b, &c, &d) == 0 || (a >> 2 & 1) == 0) {
    return false;
  }
  __asm__ volatile("vzeroupper");
  return UpperPartsInUse() == 0;
}

TEST_F(GuardedHostTest, LeavesNothingInUpperPartsOfRegisters) {
  if (!TellsRegistersInUse()) GTEST_SKIP() << "no XGETBV of what is in use";
  uint32_t inside = 0;
  abi()->parallel_for(
      abi(), 1,
      [](void* env, int64_t, int64_t) {
        *static_cast<uint32_t*>(env) = UpperPartsInUse();
        return 0;
      },
      &inside);
  EXPECT_NE(inside, 0);
  EXPECT_EQ(UpperPartsInUse(), 0);

  FillScratch(Filler::kHigh);
  const uint32_t filled = UpperPartsInUse();
  ClearScratch();
  EXPECT_NE(filled, 0);
  EXPECT_EQ(UpperPartsInUse(), 0);
}

#endif

}  // namespace
}  // namespace kiln
