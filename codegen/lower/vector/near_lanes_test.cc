#include "kiln/codegen/lower/vector/near_lanes.h"

#include <random>

#include "absl/algorithm/container.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/ir/expr/same.h"

namespace kiln::lower {
namespace {

using testing::ElementsAre;

class NearLanesTest : public testing::Test {
 protected:
  static Expr All(const Expr& e) { return Broadcast(e, 4); }
  static Expr Lanes(const Expr& base) { return Ramp(base, Int(1), 4); }
  Var i_{"i"};
};

TEST_F(NearLanesTest, WhereTheDivisorDividesWhatIsAhead) {
  const Expr lanes = Lanes(Mul(i_, Int(4)));
  const auto halves = OffsetsOfLanes(FloorDiv(lanes, All(Int(2))));
  ASSERT_TRUE(halves);
  EXPECT_TRUE(SameExpr(halves->base, Mul(i_, Int(2))));
  EXPECT_THAT(halves->offsets, ElementsAre(0, 0, 1, 1));
  const auto turned = OffsetsOfLanes(
      Sub(All(i_), FloorMod(Add(lanes, All(Int(1))), All(Int(4)))));
  ASSERT_TRUE(turned);
  EXPECT_TRUE(SameExpr(turned->base, Add(i_, Int(-1))));
  EXPECT_THAT(turned->offsets, ElementsAre(0, -1, -2, 1));
}

TEST_F(NearLanesTest, DistancesThatMoveAreNone) {
  const Expr lanes = Lanes(Mul(i_, Int(4)));
  EXPECT_FALSE(OffsetsOfLanes(FloorDiv(lanes, All(Int(3)))));
  EXPECT_FALSE(OffsetsOfLanes(FloorMod(lanes, All(i_))));
  EXPECT_FALSE(OffsetsOfLanes(Mul(Lanes(i_), All(i_))));
  EXPECT_FALSE(OffsetsOfLanes(Ramp(i_, Int(int64_t{1} << 61), 4)));
}

TEST_F(NearLanesTest, LoadedNumbersAreNotNear) {
  const Buffer numbers = MakeBuffer("N", DType::Index(), {Int(64)});
  EXPECT_FALSE(OffsetsOfLanes(Load(numbers, {Lanes(i_)})));
}

using Windows = std::vector<LaneWindow>;

TEST_F(NearLanesTest, LoadsStayWithinTheElements) {
  EXPECT_EQ(WindowsOf({0, 0, 1, 1}, false), (Windows{{0, 2}}));
  EXPECT_EQ(WindowsOf({0, 2, 4, 6}, false), (Windows{{0, 4}, {3, 4}}));
  EXPECT_EQ(WindowsOf({0, -1, -2, -3}, false), (Windows{{-3, 4}}));
  EXPECT_EQ(WindowsOf({0, 40, 1, 41}, false), (Windows{{0, 2}, {40, 2}}));
  EXPECT_EQ(WindowsOf({0, 0, 2, 2}, false), (Windows{{0, 3}}));
  EXPECT_EQ(WindowsOf({0, 2, 40, 42}, false), (Windows{{0, 4}, {39, 4}}));
  EXPECT_EQ(WindowsOf({5, 5, 5, 5}, false), (Windows{{5, 1}}));
}

// Of i*8 + v // 2 * 2 + k, for k = 0 and 1.
TEST_F(NearLanesTest, LanesOfNearIndicesShareLoads) {
  const std::vector<int64_t> pairs = {0, 0, 2, 2};
  const Expr even = Mul(i_, Int(8));
  EXPECT_EQ(WindowsOf({even, pairs}, 64), (Windows{{0, 4}}));
  EXPECT_EQ(WindowsOf({Add(even, Int(1)), pairs}, 64), (Windows{{-1, 4}}));
  EXPECT_EQ(WindowsOf({Add(even, Int(1)), pairs}, 0), (Windows{{0, 3}}))
      << "what is ahead of the buffer, or behind it, is not known";
  EXPECT_EQ(WindowsOf({Add(even, Int(1)), pairs}, 63), (Windows{{0, 3}}));
  EXPECT_EQ(WindowsOf({Mul(i_, Int(3)), pairs}, 64), (Windows{{0, 3}}));
  EXPECT_EQ(WindowsOf({Add(even, Int(1)), {0, 0, 0, 0}}, 64),
            (Windows{{0, 1}}));
  EXPECT_EQ(WindowsOf({Add(even, Int(1)), {0, 0, 1, 1}}, 64), (Windows{{0, 2}}))
      << "a longer load";
}

TEST_F(NearLanesTest, EachElementIsRead) {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int64_t> offsets = {0};
    const int count = 2 + random() % 16;
    const int spread = 1 + random() % 60;
    while (static_cast<int>(offsets.size()) < count) {
      offsets.push_back(static_cast<int64_t>(random() % spread) - spread / 3);
    }
    const int64_t first = 32 + static_cast<int64_t>(random() % 9);
    const LaneOffsets lanes = {Add(Mul(i_, Int(8)), Int(first)), offsets};
    for (const int64_t size : {0, 96, 100}) {
      const std::vector<LaneWindow> windows = WindowsOf(lanes, size);
      for (const int64_t offset : offsets) {
        EXPECT_TRUE(absl::c_any_of(windows,
                                   [&](const LaneWindow& window) {
                                     return window.first <= offset &&
                                            offset <
                                                window.first + window.lanes;
                                   }))
            << "lane " << offset << " of the random lanes " << i;
      }
      const auto [least, greatest] = absl::c_minmax_element(offsets);
      for (const LaneWindow& window : windows) {
        EXPECT_LE(window.lanes, count);
        EXPECT_GE(window.first, *least - (size ? 16 : 0));
        EXPECT_LE(window.first + window.lanes, *greatest + (size ? 17 : 1));
      }
    }
  }
}

TEST_F(NearLanesTest, MaskedLoadsReadNothingTwice) {
  EXPECT_EQ(WindowsOf({0, 2, 4, 6}, true), (Windows{{0, 4}, {4, 4}}));
}

TEST_F(NearLanesTest, LanesOfAFewRowsMayBeLeftOut) {
  const auto in_turns = [&](int rows, int lanes) {
    const Expr lane = Ramp(Int(0), Int(1), lanes);
    const Expr count = Broadcast(Int(rows), lanes);
    return Add(Broadcast(Expr(i_), lanes),
               Add(Mul(FloorMod(lane, count), Broadcast(Int(99), lanes)),
                   FloorDiv(lane, count)));
  };
  EXPECT_TRUE(IsMaskable(in_turns(4, 64)));
  EXPECT_TRUE(IsMaskable(in_turns(2, 8)));
  EXPECT_FALSE(IsMaskable(in_turns(4, 8))) << "two of each row";
  EXPECT_TRUE(IsMaskable(Ramp(i_, Int(2), 8)));
  EXPECT_FALSE(IsMaskable(Ramp(i_, Int(99), 8)));
  EXPECT_FALSE(IsMaskable(Broadcast(Expr(i_), 8)));
}

}  // namespace
}  // namespace kiln::lower
