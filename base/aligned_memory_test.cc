#include "kiln/base/aligned_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kiln {
namespace {

TEST(AlignedMemoryTest, AlignsEverySizeAndLetsAllOfItBeWritten) {
  for (uint64_t bytes : {0ul, 1ul, 63ul, 65ul, 4097ul, (2ul << 20) + 1}) {
    AlignedMemory memory = AllocateAligned(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
    std::memset(memory.get(), 1, bytes);
  }
}

TEST(AlignedMemoryTest, GivesNullForImpossibleSizes) {
  EXPECT_EQ(AllocateAligned(~uint64_t{0}), nullptr);
  EXPECT_EQ(AllocateAligned(uint64_t{1} << 55), nullptr);
}

}  // namespace
}  // namespace kiln
