#include "kiln/ir/transform/graph/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/random.h"

namespace kiln {
namespace {

using testing::ElementsAre;

TEST(ArenaTest, LivesThatFollowEachOtherShareBytes) {
  const Arena arena = PlaceInArena({{0, 1, 64}, {1, 2, 128}, {2, 3, 64}});
  EXPECT_EQ(arena.bytes, 192);
  EXPECT_THAT(arena.offsets, ElementsAre(128, 0, 128));
}

TEST(ArenaTest, TheSmallestGapThatIsWideEnoughIsTaken) {
  // Beside what lives all the time, two pieces end early: of 256 and 128 bytes.
  const Arena arena = PlaceInArena({{0, 9, 1024},
                                    {0, 3, 512},
                                    {0, 9, 448},
                                    {0, 3, 128},
                                    {0, 9, 120},
                                    {4, 9, 100}});
  EXPECT_EQ(arena.offsets[5], arena.offsets[3]);
}

TEST(ArenaTest, NothingTakesNoBytes) {
  EXPECT_EQ(PlaceInArena({}).bytes, 0);
  EXPECT_EQ(PlaceInArena({{0, 5, 0}, {0, 5, 0}}).bytes, 0);
  EXPECT_EQ(LargestLiveSum({}), 0);
}

TEST(ArenaTest, TheLargestSumCountsBothEndsOfALife) {
  EXPECT_EQ(LargestLiveSum({{0, 2, 10}, {2, 4, 20}, {3, 4, 5}}), 30);
}

TEST(ArenaTest, RandomLivesLieApartAndCloseTogether) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    std::vector<MemoryLife> lives;
    const size_t count = 1 + random.Below(60);
    for (size_t i = 0; i < count; ++i) {
      const size_t first = random.Below(40);
      lives.push_back({first, first + random.Below(8),
                       static_cast<int64_t>(random.Below(5000))});
    }
    const Arena arena = PlaceInArena(lives);
    for (size_t a = 0; a < count; ++a) {
      EXPECT_EQ(arena.offsets[a] % 64, 0);
      EXPECT_LE(arena.offsets[a] + lives[a].bytes, arena.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lives[a].first > lives[b].last || lives[b].first > lives[a].last) {
          continue;
        }
        EXPECT_TRUE(arena.offsets[a] + lives[a].bytes <= arena.offsets[b] ||
                    arena.offsets[b] + lives[b].bytes <= arena.offsets[a]);
      }
    }
    const int64_t least = LargestLiveSum(lives);
    EXPECT_GE(arena.bytes, least);
    EXPECT_LE(arena.bytes, least * 3 / 2 + 64 * static_cast<int64_t>(count));
  }
}

}  // namespace
}  // namespace kiln
