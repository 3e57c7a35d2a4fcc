#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace {

struct Block {
  char* data;
  size_t size;
  char fill;
};

Block MakeBlock(size_t size, char fill) {
  auto* data = static_cast<char*>(::operator new(size));
  std::memset(data, fill, size);
  return {data, size, fill};
}

bool IsIntact(const Block& block) {
  for (size_t i = 0; i < block.size; ++i) {
    if (block.data[i] != block.fill) return false;
  }
  return true;
}

// Makes and drops blocks of many sizes in any order; with and without the size.
void Exercise(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) {
    const bool makes = blocks.empty() || random() % 2 == 0;
    if (makes) {
      const size_t size = random() % (random() % 16 == 0 ? 5000 : 200);
      blocks.push_back(MakeBlock(size, static_cast<char>(i)));
      continue;
    }
    std::swap(blocks[random() % blocks.size()], blocks.back());
    const Block block = blocks.back();
    blocks.pop_back();
    ASSERT_TRUE(IsIntact(block)) << "seed " << seed << ", step " << i;
    if (random() % 4 == 0) {
      ::operator delete(block.data);
    } else {
      ::operator delete(block.data, block.size);
    }
  }
  for (const Block& block : blocks) ::operator delete(block.data, block.size);
}

TEST(MallocTest, LiveBlocksNeverOverlap) { Exercise(1); }

TEST(MallocTest, ThreadsShareNothingButMayFreeForEachOther) {
  std::vector<std::thread> threads;
  for (uint32_t seed = 2; seed < 6; ++seed)
    threads.emplace_back(Exercise, seed);
  for (std::thread& thread : threads) thread.join();
  std::vector<std::unique_ptr<int64_t>> made(1000);
  std::thread([&] {
    for (auto& one : made) one = std::make_unique<int64_t>(7);
  }).join();
  for (const auto& one : made) EXPECT_EQ(*one, 7);
  std::thread([&] { made.clear(); }).join();
}

TEST(MallocTest, BlocksAreAlignedForEveryType) {
  std::vector<Block> blocks;
  for (size_t size = 0; size < 3000; size += 7) {
    blocks.push_back(MakeBlock(size, 1));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back().data) %
                  __STDCPP_DEFAULT_NEW_ALIGNMENT__,
              0u);
  }
  for (const Block& block : blocks) ::operator delete(block.data, block.size);
}

TEST(MallocTest, NothingHasAnAddressAndNullMayBeFreed) {
  void* a = ::operator new(0);
  void* b = ::operator new(0);
  EXPECT_NE(a, b);
  ::operator delete(a, size_t{0});
  ::operator delete(b);
  ::operator delete(nullptr);
  ::operator delete(nullptr, size_t{16});
}

}  // namespace
