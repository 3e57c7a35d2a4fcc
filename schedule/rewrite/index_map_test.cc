#include "kiln/schedule/rewrite/index_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

using Point = std::vector<int64_t>;

std::vector<Expr> Ints(const Point& values) {
  std::vector<Expr> exprs;
  for (int64_t v : values) exprs.push_back(Int(v));
  return exprs;
}

int64_t Value(const Expr& e, const std::vector<Var>& vars, const Point& at) {
  VarMap map;
  for (size_t i = 0; i < vars.size(); ++i) map[vars[i].get()] = Int(at[i]);
  Analyzer analyzer;
  return *AsInt(analyzer.Simplify(Substitute(e, map)));
}

Point Values(const std::vector<Expr>& list, const std::vector<Var>& vars,
             const Point& at) {
  Point values;
  for (const Expr& e : list) values.push_back(Value(e, vars, at));
  return values;
}

// All points of a box, in order.
std::vector<Point> PointsOf(const Point& shape) {
  std::vector<Point> points = {{}};
  for (int64_t extent : shape) {
    std::vector<Point> longer;
    for (const Point& p : points) {
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

// Compares what is said of the map with what it does at every point.
void CheckInverse(const IndexMap& map, const Point& shape) {
  std::vector<Var> points;
  for (size_t i = 0; i < map.outputs.size(); ++i) points.emplace_back("p");
  const auto inverse = InvertIndexMap(map, Ints(shape), points);
  if (!inverse.ok()) return;
  KILN_ASSERT_OK_AND_ASSIGN(const auto extents, MapShape(map, Ints(shape)));
  std::map<Point, Point> image;
  for (const Point& at : PointsOf(shape)) {
    EXPECT_TRUE(image.emplace(Values(map.outputs, map.inputs, at), at).second)
        << "two inputs have the same outputs";
  }
  size_t found = 0;
  for (const Point& p : PointsOf(Values(extents, {}, {}))) {
    const auto source = image.find(p);
    const bool is_padding = source == image.end();
    EXPECT_EQ(Value(inverse->is_padding, points, p), is_padding);
    if (is_padding) continue;
    ++found;
    EXPECT_EQ(Values(inverse->inputs, points, p), source->second);
  }
  EXPECT_EQ(found, image.size()) << "the shape does not hold all outputs";
}

// The digits of `x`, in one of some ways.
void AddDigits(const Expr& x, std::mt19937_64& random,
               std::vector<Expr>* outputs) {
  const int64_t a = 1 + random() % 6, b = 1 + random() % 4;
  switch (random() % 5) {
    case 0:
      outputs->push_back(x);
      return;
    case 1:
      outputs->push_back(FloorDiv(x, Int(a)));
      outputs->push_back(FloorMod(x, Int(a)));
      return;
    case 2:
      outputs->push_back(FloorDiv(x, Int(a * b)));
      outputs->push_back(FloorMod(FloorDiv(x, Int(b)), Int(a)));
      outputs->push_back(FloorMod(x, Int(b)));
      return;
    case 3:
      outputs->push_back(FloorDiv(x, Int(a)));
      outputs->push_back(FloorDiv(FloorMod(x, Int(a * b)), Int(b)));
      outputs->push_back(FloorMod(x, Int(b)));
      return;
    default:
      outputs->push_back(FloorDiv(Add(x, Int(b)), Int(a)));
      outputs->push_back(FloorMod(Add(x, Int(b)), Int(a)));
      return;
  }
}

TEST(IndexMapTest, AgreesWithEnumerationOnRandomMaps) {
  int inverted = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    IndexMap map;
    Point shape;
    for (uint64_t d = 0; d < 1 + random() % 2; ++d) {
      shape.push_back(1 + random() % 11);
      map.inputs.emplace_back("i" + std::to_string(d));
    }
    if (shape.size() == 2 && random() % 4 == 0) {
      const Expr fused = Add(Mul(map.inputs[0], Int(shape[1])), map.inputs[1]);
      AddDigits(fused, random, &map.outputs);
    } else {
      for (const Var& input : map.inputs)
        AddDigits(input, random, &map.outputs);
    }
    if (random() % 5 == 0) map.outputs.push_back(Int(0));
    if (random() % 9 == 0) map.outputs.pop_back();
    std::shuffle(map.outputs.begin(), map.outputs.end(), random);
    if (map.outputs.empty()) continue;
    CheckInverse(map, shape);
    std::vector<Var> points(map.outputs.size(), Var("p"));
    inverted += InvertIndexMap(map, Ints(shape), points).ok();
  }
  EXPECT_GT(inverted, 150);
}

IndexMap Tiles(int64_t tile) {
  Var j("j");
  return {{j}, {FloorDiv(j, Int(tile)), FloorMod(j, Int(tile))}};
}

TEST(IndexMapTest, IsTheIdentityWhereEachInputStays) {
  const Var i("i"), j("j");
  EXPECT_TRUE(IsIdentity({{i, j}, {i, j}}));
  EXPECT_FALSE(IsIdentity({{i, j}, {j, i}}));
  EXPECT_FALSE(IsIdentity({{i, j}, {i}}));
  EXPECT_FALSE(IsIdentity(Tiles(4)));
}

TEST(IndexMapTest, RoundsShapesUp) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto shape, MapShape(Tiles(48), {Int(100)}));
  EXPECT_TRUE(IsConst(shape[0], 3));
  EXPECT_TRUE(IsConst(shape[1], 48));
}

// A multiple of the tile has whole tiles, whatever its value.
TEST(IndexMapTest, SymbolicMultiplesHaveWholeTiles) {
  const Var n("n");
  const Expr extent = Mul(FloorDiv(Add(n, Int(15)), Int(16)), Int(16));
  Analyzer analyzer;
  KILN_ASSERT_OK_AND_ASSIGN(const auto shape, MapShape(Tiles(16), {extent}));
  EXPECT_TRUE(IsConst(shape[1], 16));
  EXPECT_TRUE(analyzer.CanProveEqual(Mul(shape[0], Int(16)), extent));
}

TEST(IndexMapTest, SaysWherePaddingIs) {
  const std::vector<Var> points = {Var("a"), Var("b")};
  KILN_ASSERT_OK_AND_ASSIGN(const auto inverse,
                            InvertIndexMap(Tiles(4), {Int(14)}, points));
  EXPECT_EQ(Value(inverse.is_padding, points, {3, 2}), 1);
  EXPECT_EQ(Value(inverse.is_padding, points, {3, 1}), 0);
  KILN_ASSERT_OK_AND_ASSIGN(const auto exact,
                            InvertIndexMap(Tiles(4), {Int(16)}, points));
  EXPECT_TRUE(IsZero(exact.is_padding));
}

TEST(IndexMapTest, KeepsTilesOfRegionsTight) {
  Analyzer analyzer;
  Var t("t");
  analyzer.Bind(t, Range{Int(0), Int(8)});
  const auto ranges =
      MapRanges(Tiles(16), {Range{Mul(t, Int(16)), Int(16)}}, &analyzer);
  EXPECT_EQ(ranges[0].min, t);
  EXPECT_TRUE(IsOne(ranges[0].extent));
  EXPECT_TRUE(IsZero(ranges[1].min));
  EXPECT_TRUE(IsConst(ranges[1].extent, 16));
}

TEST(IndexMapTest, RefusesVariablesThatAreNoInputs) {
  const Var i("i"), j("j"), n("n");
  EXPECT_THAT(
      MapShape({{i, j}, {Add(Mul(i, n), j)}}, {Int(1), n}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("names `n`")));
}

TEST(IndexMapTest, RefusesLostAndNegativeIndices) {
  Var i("i");
  const std::vector<Var> points = {Var("p")};
  EXPECT_FALSE(
      InvertIndexMap({{i}, {FloorDiv(i, Int(2))}}, {Int(8)}, points).ok());
  EXPECT_FALSE(
      InvertIndexMap({{i}, {FloorMod(i, Int(4))}}, {Int(8)}, points).ok());
  EXPECT_FALSE(MapShape({{i}, {Sub(i, Int(1))}}, {Int(8)}).ok());
}

}  // namespace
}  // namespace kiln
