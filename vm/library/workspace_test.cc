#include "kiln/vm/library/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "kiln/base/aligned_memory.h"

namespace kiln {
namespace {

TEST(WorkspaceTest, WorkspacesAreAlignedAndLieApart) {
  WorkspaceStack stack;
  char* const a = static_cast<char*>(stack.Allocate(100));
  char* const b = static_cast<char*>(stack.Allocate(1 << 20));
  char* const c = static_cast<char*>(stack.Allocate(0));
  for (const char* address : {a, b, c}) {
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % kMemoryAlignment, 0u);
  }
  std::memset(a, 1, 100);
  std::memset(b, 2, 1 << 20);
  EXPECT_EQ(a[99], 1);
  EXPECT_EQ(stack.depth(), 3u);
}

TEST(WorkspaceTest, ThoseGivenBackOutOfOrderGoWithTheOneAbove) {
  WorkspaceStack stack;
  void* const a = stack.Allocate(64);
  void* const b = stack.Allocate(64);
  stack.Free(a);
  EXPECT_EQ(stack.depth(), 2u);
  stack.Free(b);
  EXPECT_EQ(stack.depth(), 0u);
  EXPECT_EQ(stack.Allocate(64), a);
}

TEST(WorkspaceTest, RewindGivesBackWhatIsAboveAndKeepsTheMemory) {
  WorkspaceStack stack;
  void* const kept = stack.Allocate(64);
  void* const next = stack.Allocate(64);
  stack.Allocate(1 << 20);
  stack.Rewind(1);
  EXPECT_EQ(stack.depth(), 1u);
  EXPECT_EQ(stack.Allocate(64), next);
  stack.Rewind(5);
  EXPECT_EQ(stack.depth(), 2u);
  stack.Release();
  EXPECT_GT(stack.Bytes(), 0u);
  stack.Rewind(0);
  stack.Free(kept);
  stack.Release();
  EXPECT_EQ(stack.Bytes(), 0u);
}

TEST(WorkspaceTest, MoreThanThereIsIsRefused) {
  WorkspaceStack stack;
  EXPECT_EQ(stack.Allocate(UINT64_MAX), nullptr);
  EXPECT_EQ(stack.Allocate(uint64_t{1} << 60), nullptr);
  EXPECT_EQ(stack.depth(), 0u);
}

}  // namespace
}  // namespace kiln
