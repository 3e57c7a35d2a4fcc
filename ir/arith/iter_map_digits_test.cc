// What DetermineByDigits says against a table of maps, and, for random maps,
// against all values that they take.
#include "kiln/ir/arith/iter_map_digits.h"

#include <set>

#include "gtest/gtest.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

class DigitsTest : public testing::Test {
 protected:
  static LoopRange Loop(const Var& var, int64_t extent) {
    return {var, Range{Int(0), Int(extent)}};
  }
  Expr Div(const Expr& e, int64_t by) { return FloorDiv(e, Int(by)); }
  Expr Mod(const Expr& e, int64_t by) { return FloorMod(e, Int(by)); }
  Expr Times(const Expr& e, int64_t by) { return Mul(e, Int(by)); }

  Var i_{"i"}, j_{"j"}, f_{"f"}, n_{"n"};
};

TEST_F(DigitsTest, SplitsAndFusionsAreSeen) {
  const std::vector<LoopRange> two = {Loop(i_, 4), Loop(j_, 16)};
  EXPECT_TRUE(DetermineByDigits({Add(Times(i_, 16), j_)}, two));
  EXPECT_TRUE(DetermineByDigits({Add(Add(j_, Int(3)), Times(i_, 20))}, two));
  EXPECT_TRUE(DetermineByDigits({Times(j_, 7), i_}, two));
  const std::vector<LoopRange> fused = {Loop(f_, 60)};
  EXPECT_TRUE(
      DetermineByDigits({Div(f_, 12), Mod(Div(f_, 4), 3), Mod(f_, 4)}, fused));
  EXPECT_TRUE(DetermineByDigits({Div(f_, 7), Mod(f_, 7)}, fused));
  EXPECT_TRUE(DetermineByDigits({Mod(f_, 100)}, fused));
}

TEST_F(DigitsTest, LoopsOfOneIterationNeedNoDigit) {
  EXPECT_TRUE(DetermineByDigits({}, {Loop(i_, 1)}));
  EXPECT_TRUE(DetermineByDigits({j_}, {Loop(i_, 1), Loop(j_, 3)}));
}

TEST_F(DigitsTest, SumsThatOverlapAreNotDetermined) {
  const std::vector<LoopRange> two = {Loop(i_, 4), Loop(j_, 16)};
  EXPECT_FALSE(DetermineByDigits({Add(Times(i_, 15), j_)}, two));
  EXPECT_FALSE(DetermineByDigits({Add(i_, j_)}, two));
  EXPECT_FALSE(DetermineByDigits({Add(i_, i_), j_}, {Loop(i_, 4)}));
}

TEST_F(DigitsTest, GapsAndLostDigitsAreNotDetermined) {
  const std::vector<LoopRange> fused = {Loop(f_, 60)};
  EXPECT_FALSE(DetermineByDigits({Div(f_, 12), Mod(f_, 4)}, fused));
  EXPECT_FALSE(DetermineByDigits({Div(f_, 12), Mod(f_, 6)}, fused));
  EXPECT_FALSE(DetermineByDigits({Mod(f_, 59)}, fused));
  EXPECT_FALSE(DetermineByDigits({Div(f_, 4)}, fused));
  EXPECT_FALSE(DetermineByDigits({i_}, {Loop(i_, 4), Loop(j_, 16)}));
}

TEST_F(DigitsTest, WhatNoLoopMovesOnlyShifts) {
  EXPECT_TRUE(DetermineByDigits({n_, i_}, {Loop(i_, 4)}));
  EXPECT_TRUE(DetermineByDigits({Add(Div(n_, 3), i_)}, {Loop(i_, 4)}));
  EXPECT_FALSE(DetermineByDigits({n_}, {Loop(i_, 4)}));
  EXPECT_FALSE(DetermineByDigits({Add(n_, Div(i_, 2))}, {Loop(i_, 4)}));
}

TEST_F(DigitsTest, WhatIsNoDigitIsNotDetermined) {
  EXPECT_FALSE(DetermineByDigits({i_}, {{i_, {Int(1), Int(4)}}}));
  EXPECT_FALSE(DetermineByDigits({i_}, {{i_, {Int(0), n_}}}));
  EXPECT_FALSE(DetermineByDigits({i_}, {Loop(i_, 0)}));
  EXPECT_FALSE(DetermineByDigits({Mul(i_, i_)}, {Loop(i_, 4)}));
  EXPECT_FALSE(DetermineByDigits({Times(i_, -1)}, {Loop(i_, 4)}));
  EXPECT_FALSE(DetermineByDigits({Div(i_, -2), i_}, {Loop(i_, 4)}));
  const Var narrow("narrow", DType::Int(8));
  EXPECT_FALSE(DetermineByDigits({narrow}, {Loop(narrow, 4)}));
}

TEST_F(DigitsTest, ProductsThatOverflowAreNotDetermined) {
  const int64_t large = int64_t{1} << 40;
  const std::vector<LoopRange> two = {Loop(i_, large), Loop(j_, large)};
  EXPECT_FALSE(DetermineByDigits({Add(Times(i_, large), j_)}, two));
  EXPECT_FALSE(DetermineByDigits({Times(Times(i_, large), large), j_}, two));
}

// A random sum of terms, which are loops divided and taken modulo.
Expr RandomBinding(const std::vector<LoopRange>& loops, RandomExpr* random) {
  Expr sum = Int(random->Below(3));
  for (int64_t terms = random->Below(3) + 1; terms > 0; --terms) {
    Expr term = loops[random->Below(static_cast<int64_t>(loops.size()))].var;
    for (int64_t steps = random->Below(3); steps > 0; --steps) {
      const Expr by = Int(random->Below(6) + 1);
      term = random->Below(2) ? FloorDiv(term, by) : FloorMod(term, by);
    }
    sum = Add(sum, Mul(term, Int(random->Below(8) + 1)));
  }
  return sum;
}

// Whether no two iterations give the same values.
bool IsInjective(const std::vector<Expr>& bindings,
                 const std::vector<LoopRange>& loops) {
  std::set<std::vector<int64_t>> seen;
  const int64_t first = *AsInt(loops[0].range.extent);
  const int64_t second = *AsInt(loops[1].range.extent);
  for (int64_t at = 0; at < first * second; ++at) {
    const Values values = {{loops[0].var.get(), at / second},
                           {loops[1].var.get(), at % second}};
    std::vector<int64_t> images;
    for (const Expr& e : bindings) images.push_back(*Evaluate(e, values));
    if (!seen.insert(images).second) return false;
  }
  return true;
}

TEST_F(DigitsTest, WhatIsSaidOfRandomMapsHolds) {
  std::mt19937_64 bits(TestSeed());
  RandomExpr random({i_, j_}, &bits);
  int determined = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::vector<LoopRange> loops = {Loop(i_, random.Below(12) + 1),
                                          Loop(j_, random.Below(6) + 1)};
    std::vector<Expr> bindings;
    for (int64_t count = random.Below(4) + 1; count > 0; --count) {
      bindings.push_back(RandomBinding(loops, &random));
    }
    if (!DetermineByDigits(bindings, loops)) continue;
    ++determined;
    std::string text;
    for (const Expr& e : bindings) text += ToText(e) + "; ";
    EXPECT_TRUE(IsInjective(bindings, loops))
        << text << "i < " << *AsInt(loops[0].range.extent) << ", j < "
        << *AsInt(loops[1].range.extent);
  }
  EXPECT_GT(determined, 100);
}

}  // namespace
}  // namespace kiln
