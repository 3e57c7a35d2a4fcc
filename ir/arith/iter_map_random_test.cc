// Random maps over small loops against counting their points.
#include <algorithm>
#include <random>
#include <set>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

struct Map {
  std::vector<LoopRange> loops;
  std::vector<Expr> bindings;
  Expr predicate;  // null: none
};

struct Point {
  Values loops;
  std::vector<int64_t> values;
};

std::string ToText(const Map& map) {
  std::string text = map.predicate ? "where " + ToText(map.predicate) : "";
  for (const Expr& b : map.bindings) text += " " + ToText(b);
  for (const LoopRange& l : map.loops) text += ", " + ToText(l.range.extent);
  return text;
}

// Every point where the predicate holds, with the values there.
std::vector<Point> PointsOf(const Map& map) {
  std::vector<Point> points;
  for (int64_t p = 0;; ++p) {
    Point point;
    int64_t rest = p;
    for (const LoopRange& loop : map.loops) {
      const int64_t extent = *AsInt(loop.range.extent);
      point.loops[loop.var.get()] = rest % extent;
      rest /= extent;
    }
    if (rest) return points;
    if (map.predicate && Evaluate(map.predicate, point.loops) != 1) continue;
    for (const Expr& binding : map.bindings) {
      point.values.push_back(*Evaluate(binding, point.loops));
    }
    points.push_back(std::move(point));
  }
}

class RandomIterMapTest : public testing::Test {
 protected:
  RandomIterMapTest() : random_(TestSeed()), pick_(vars_, &random_) {}

  Expr Step() {
    static constexpr int64_t kSteps[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
    return Int(kSteps[pick_.Below(10)]);
  }
  Expr AnyVar() { return vars_[pick_.Below(3)]; }

  Expr Digit() {
    Expr digit = AnyVar();
    if (pick_.Below(3) == 0) digit = Add(digit, Mul(AnyVar(), Step()));
    if (pick_.Below(3) == 0) digit = FloorMod(digit, Step());
    if (pick_.Below(3) == 0) digit = FloorDiv(digit, Step());
    return digit;
  }

  Expr Affine(int64_t terms) {
    Expr sum = Int(0);
    for (int64_t t = 0; t < terms; ++t) sum = Add(sum, Mul(Digit(), Step()));
    return sum;
  }

  // All loops fused, then split in two.
  std::vector<Expr> Refused(const std::vector<LoopRange>& loops) {
    const Expr fused =
        Add(Mul(Add(Mul(vars_[2], loops[1].range.extent), vars_[1]),
                loops[0].range.extent),
            vars_[0]);
    const Expr factor = Step();
    return {FloorDiv(fused, factor), FloorMod(fused, factor)};
  }

  Map MakeMap(int trial) {
    static constexpr int64_t kExtents[] = {1, 2, 3, 4, 6, 8};
    Map map;
    for (const Var& v : vars_) {
      map.loops.push_back({v, Range{Int(0), Int(kExtents[pick_.Below(6)])}});
    }
    const int64_t count = 1 + pick_.Below(3);
    for (int64_t b = 0; b < count; ++b) {
      map.bindings.push_back(Affine(1 + pick_.Below(3)));
    }
    if (trial % 4 == 0) map.bindings = Refused(map.loops);
    if (pick_.Below(3) == 0) {
      map.predicate = LT(Affine(2), Int(pick_.Below(40)));
    }
    return map;
  }

  static bool Holds(const Map& map, IterMapLevel level) {
    return CheckIterMap(map.bindings, map.loops, map.predicate, level).ok();
  }

  void ExpectInjective(const Map& map, const std::vector<Point>& points) {
    std::set<std::vector<int64_t>> seen;
    for (const Point& point : points) seen.insert(point.values);
    ASSERT_EQ(seen.size(), points.size()) << ToText(map);
  }

  void ExpectDense(const Map& map, const std::vector<Point>& points) {
    std::vector<int64_t> top(map.bindings.size(), 0);
    for (const Point& point : points) {
      for (size_t b = 0; b < top.size(); ++b) {
        ASSERT_GE(point.values[b], 0) << ToText(map);
        top[b] = std::max(top[b], point.values[b]);
      }
    }
    int64_t volume = 1;
    for (int64_t t : top) volume *= t + 1;
    ASSERT_EQ(volume, static_cast<int64_t>(points.size())) << ToText(map);
  }

  void ExpectInverse(const Map& map, const std::vector<Point>& points) {
    std::vector<Expr> outputs;
    for (size_t b = 0; b < map.bindings.size(); ++b) {
      outputs.push_back(Var("o" + std::to_string(b)));
    }
    const auto inverse = InvertIterMap(map.bindings, map.loops, outputs);
    ASSERT_TRUE(inverse) << ToText(map);
    for (const Point& point : points) {
      Values values;
      for (size_t b = 0; b < outputs.size(); ++b) {
        values[outputs[b].As<VarNode>()] = point.values[b];
      }
      for (size_t l = 0; l < map.loops.size(); ++l) {
        ASSERT_EQ(Evaluate((*inverse)[l], values),
                  point.loops.at(map.loops[l].var.get()))
            << ToText(map) << " inverse " << ToText((*inverse)[l]);
      }
    }
  }

  const std::vector<Var> vars_{Var("i"), Var("j"), Var("k")};
  std::mt19937_64 random_;
  RandomExpr pick_;
};

TEST_F(RandomIterMapTest, VerdictsAndInversesAgreeWithCounting) {
  int injective = 0, bijective = 0;
  for (int trial = 0; trial < 2000 && !HasFatalFailure(); ++trial) {
    const Map map = MakeMap(trial);
    const std::vector<Point> points = PointsOf(map);
    if (points.empty()) continue;
    if (!Holds(map, IterMapLevel::kInjective)) continue;
    ++injective;
    ExpectInjective(map, points);
    if (!Holds(map, IterMapLevel::kBijective)) continue;
    ++bijective;
    ExpectDense(map, points);
    if (!map.predicate) ExpectInverse(map, points);
  }
  EXPECT_GT(injective, 100);
  EXPECT_GT(bijective, 30);
}

}  // namespace
}  // namespace kiln
