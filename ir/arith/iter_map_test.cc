#include "kiln/ir/arith/iter_map.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

class IterMapTest : public testing::Test {
 protected:
  static LoopRange Loop(const Var& var, int64_t extent) {
    return {var, Range{Int(0), Int(extent)}};
  }
  bool Check(const std::vector<Expr>& bindings,
             const std::vector<LoopRange>& loops, IterMapLevel level,
             const Expr& predicate = nullptr) {
    const absl::Status status = CheckIterMap(bindings, loops, predicate, level);
    message_ = std::string(status.message());
    return status.ok();
  }
  std::string Invert(const std::vector<Expr>& bindings,
                     const std::vector<LoopRange>& loops,
                     const std::vector<Expr>& outputs) {
    const auto inverse = InvertIterMap(bindings, loops, outputs);
    if (!inverse) return "none";
    std::string text;
    for (const Expr& e : *inverse) text += ToText(e) + "; ";
    return text;
  }
  std::string Divide(const std::vector<Expr>& bindings,
                     const std::vector<LoopRange>& loops,
                     const std::vector<Var>& inner,
                     const Expr& predicate = nullptr) {
    const auto splits = DivideSubspace(bindings, loops, inner, predicate);
    if (!splits) return "none";
    std::string text;
    for (const SubspaceSplit& s : *splits) {
      text += ToText(s.outer) + " < " + ToText(s.outer_extent) + ", " +
              ToText(s.inner) + " < " + ToText(s.inner_extent) + "; ";
    }
    return text;
  }

  Var i_{"i"}, j_{"j"}, k_{"k"}, f_{"f"}, n_{"n"}, m_{"m"}, x_{"x"}, y_{"y"};
  std::string message_;
};

TEST_F(IterMapTest, SplitLoopsAreBijective) {
  EXPECT_TRUE(Check({Add(Mul(i_, Int(8)), j_), k_},
                    {Loop(i_, 4), Loop(j_, 8), Loop(k_, 3)},
                    IterMapLevel::kBijective))
      << message_;
}

TEST_F(IterMapTest, LoopsOfOneIterationHideNothing) {
  const Expr sum = Add(Add(Mul(i_, Int(4)), j_), k_);
  EXPECT_TRUE(Check({sum}, {Loop(i_, 3), Loop(j_, 4), Loop(k_, 1)},
                    IterMapLevel::kInjective))
      << message_;
  EXPECT_TRUE(Check({sum}, {Loop(i_, 3), Loop(j_, 1), Loop(k_, 4)},
                    IterMapLevel::kInjective))
      << message_;
  EXPECT_FALSE(Check({sum}, {Loop(i_, 3), Loop(j_, 2), Loop(k_, 2)},
                     IterMapLevel::kInjective));
}

TEST_F(IterMapTest, WhatTheLoopsDoNotMoveOnlyShifts) {
  const std::vector<LoopRange> loops{Loop(i_, 4), Loop(j_, 8)};
  const Expr sum = Add(Mul(i_, Int(8)), j_);
  EXPECT_TRUE(
      Check({Add(Mul(x_, Int(32)), sum), y_}, loops, IterMapLevel::kInjective))
      << message_;
  EXPECT_TRUE(
      Check({Add(FloorDiv(x_, Int(3)), sum)}, loops, IterMapLevel::kInjective))
      << message_;
  EXPECT_FALSE(Check({Add(x_, Mul(i_, Int(4))), FloorDiv(j_, Int(4))}, loops,
                     IterMapLevel::kInjective));
}

TEST_F(IterMapTest, FusedLoopsAreBijective) {
  EXPECT_TRUE(
      Check({FloorDiv(f_, Int(12)), FloorMod(FloorDiv(f_, Int(4)), Int(3)),
             FloorMod(f_, Int(4))},
            {Loop(f_, 60)}, IterMapLevel::kBijective))
      << message_;
  // Fused, then split again, then taken apart.
  const Expr fused = Add(Mul(i_, Int(8)), j_);
  EXPECT_TRUE(Check({FloorDiv(fused, Int(12)), FloorMod(fused, Int(12))},
                    {Loop(i_, 6), Loop(j_, 8)}, IterMapLevel::kBijective))
      << message_;
}

TEST_F(IterMapTest, OverlapIsNotInjective) {
  EXPECT_FALSE(Check({Add(Mul(i_, Int(7)), j_)}, {Loop(i_, 4), Loop(j_, 8)},
                     IterMapLevel::kInjective));
  EXPECT_NE(message_.find("loop"), std::string::npos);
  EXPECT_FALSE(
      Check({FloorDiv(f_, Int(2))}, {Loop(f_, 8)}, IterMapLevel::kInjective));
  EXPECT_FALSE(
      Check({i_}, {Loop(i_, 4), Loop(j_, 8)}, IterMapLevel::kInjective));
}

TEST_F(IterMapTest, GapsAreInjectiveButNotBijective) {
  const std::vector<Expr> bindings{Add(Mul(i_, Int(9)), j_)};
  const std::vector<LoopRange> loops{Loop(i_, 4), Loop(j_, 8)};
  EXPECT_TRUE(Check(bindings, loops, IterMapLevel::kInjective));
  EXPECT_FALSE(Check(bindings, loops, IterMapLevel::kBijective));
}

TEST_F(IterMapTest, PredicatesCutTheLastTile) {
  const Expr sum = Add(Mul(i_, Int(9)), j_);
  const std::vector<LoopRange> loops{Loop(i_, 15), Loop(j_, 9)};
  EXPECT_TRUE(Check({sum}, loops, IterMapLevel::kBijective, LT(sum, Int(128))))
      << message_;
  EXPECT_FALSE(Check({FloorDiv(sum, Int(16)), FloorMod(sum, Int(16))}, loops,
                     IterMapLevel::kBijective, LT(sum, Int(127))));
  EXPECT_TRUE(Check({FloorDiv(sum, Int(16)), FloorMod(sum, Int(16))}, loops,
                    IterMapLevel::kBijective, LT(sum, Int(128))));
}

TEST_F(IterMapTest, WhatIsNotQuasiAffineIsRefused) {
  EXPECT_FALSE(
      Check({Mul(i_, j_)}, {Loop(i_, 4), Loop(j_, 8)}, IterMapLevel::kNoCheck));
  EXPECT_NE(message_.find("binding 0"), std::string::npos);
  EXPECT_FALSE(Check({Min(i_, Int(2))}, {Loop(i_, 4)}, IterMapLevel::kNoCheck));
  EXPECT_TRUE(Check({Add(Mul(i_, n_), FloorDiv(j_, Int(3)))},
                    {Loop(i_, 4), Loop(j_, 8)}, IterMapLevel::kNoCheck));
}

TEST_F(IterMapTest, SymbolicExtents) {
  const std::vector<LoopRange> loops{{x_, Range{Int(0), m_}},
                                     {y_, Range{Int(0), n_}}};
  EXPECT_TRUE(Check({Add(Mul(x_, n_), y_)}, loops, IterMapLevel::kInjective))
      << message_;
  const LoopRange fused{f_, Range{Int(0), Mul(m_, n_)}};
  EXPECT_TRUE(Check({FloorDiv(f_, n_), FloorMod(f_, n_)}, {fused},
                    IterMapLevel::kInjective))
      << message_;
  const Expr tiles = FloorDiv(Add(n_, Int(31)), Int(32));
  EXPECT_TRUE(Check(
      {Add(Mul(i_, Int(32)), j_)}, {{i_, Range{Int(0), tiles}}, Loop(j_, 32)},
      IterMapLevel::kInjective, LT(Add(Mul(i_, Int(32)), j_), n_)));
}

TEST_F(IterMapTest, SimplifyJoinsDigits) {
  const auto simple = SimplifyIterMap(
      {Add(Mul(FloorDiv(f_, Int(4)), Int(4)), FloorMod(f_, Int(4))),
       FloorDiv(Add(Mul(i_, Int(8)), j_), Int(8))},
      {Loop(f_, 64), Loop(i_, 4), Loop(j_, 8)}, nullptr);
  EXPECT_EQ(ToText(simple[0]), "f");
  EXPECT_EQ(ToText(simple[1]), "i");
}

TEST_F(IterMapTest, InversesOfSplitAndFuse) {
  EXPECT_EQ(
      Invert({Add(Mul(i_, Int(8)), j_)}, {Loop(i_, 4), Loop(j_, 8)}, {x_}),
      "(x // 8); (x % 8); ");
  EXPECT_EQ(Invert({FloorDiv(f_, Int(8)), FloorMod(f_, Int(8))}, {Loop(f_, 32)},
                   {x_, y_}),
            "((x * 8) + y); ");
  EXPECT_EQ(Invert({j_, i_}, {Loop(i_, 4), Loop(j_, 8)}, {x_, y_}), "y; x; ");
  EXPECT_EQ(Invert({FloorDiv(f_, Int(8))}, {Loop(f_, 32)}, {x_}), "none");
}

TEST_F(IterMapTest, SubspacesOfTiles) {
  const Expr sum = Add(Add(Mul(i_, Int(64)), Mul(j_, Int(8))), k_);
  const std::vector<LoopRange> loops{Loop(i_, 2), Loop(j_, 8), Loop(k_, 8)};
  EXPECT_EQ(Divide({sum}, loops, {k_}), "((i * 8) + j) < 16, k < 8; ");
  EXPECT_EQ(Divide({sum}, loops, {j_, k_}), "i < 2, ((j * 8) + k) < 64; ");
  EXPECT_EQ(Divide({sum}, loops, {}), ToText(sum) + " < 128, 0 < 1; ");
  EXPECT_EQ(Divide({sum}, loops, {i_}), "none");
  EXPECT_EQ(Divide({i_, Add(Mul(j_, Int(8)), k_)}, loops, {k_}),
            "i < 2, 0 < 1; j < 8, k < 8; ");
  EXPECT_EQ(Divide({sum}, loops, {k_}, LT(sum, Int(120))),
            "((i * 8) + j) < 15, k < 8; ");
  EXPECT_EQ(Divide({k_}, loops, {k_}), "0 < 1, k < 8; ");
}

TEST_F(IterMapTest, SubspacesOfSymbolicLoops) {
  EXPECT_EQ(Divide({Add(Mul(i_, Int(32)), j_)},
                   {{i_, Range{Int(0), n_}}, Loop(j_, 32)}, {j_}),
            "i < n, j < 32; ");
}

}  // namespace
}  // namespace kiln
