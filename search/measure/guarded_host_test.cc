#include "kiln/search/measure/guarded_host.h"

#include <cstring>

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

}  // namespace
}  // namespace kiln
