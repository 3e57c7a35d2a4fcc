#include "kiln/ir/arith/stride.h"

#include "gtest/gtest.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/random_expr.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

class StrideTest : public testing::Test {
 protected:
  std::optional<int64_t> Step(const Expr& e, const Var& var) {
    return StrideOf(e, var, &analyzer_);
  }

  Var i_{"i"}, j_{"j"}, n_{"n"};
  Analyzer analyzer_;
};

TEST_F(StrideTest, IsTheFactorOfTheVariable) {
  EXPECT_EQ(Step(i_, i_), 1);
  EXPECT_EQ(Step(Add(Mul(i_, Int(3)), j_), i_), 3);
  EXPECT_EQ(Step(Sub(Int(7), Mul(i_, Int(2))), i_), -2);
  EXPECT_EQ(Step(Add(Mul(i_, n_), Mul(j_, n_)), n_), std::nullopt);
}

TEST_F(StrideTest, IsZeroWithoutTheVariable) {
  EXPECT_EQ(Step(j_, i_), 0);
  EXPECT_EQ(Step(FloorDiv(j_, Int(4)), i_), 0);
  EXPECT_EQ(Step(Sub(i_, i_), i_), 0);
}

TEST_F(StrideTest, IsNoneWhereItVaries) {
  EXPECT_EQ(Step(FloorDiv(i_, Int(4)), i_), std::nullopt);
  EXPECT_EQ(Step(FloorMod(i_, Int(4)), i_), std::nullopt);
  EXPECT_EQ(Step(Mul(i_, i_), i_), std::nullopt);
  EXPECT_EQ(Step(Mul(i_, n_), i_), std::nullopt);
}

TEST_F(StrideTest, UsesWhatIsKnownAboutOthers) {
  analyzer_.Bind(n_, Range{Int(5), Int(1)});
  EXPECT_EQ(Step(Mul(i_, n_), i_), 5);
  EXPECT_EQ(Step(FloorDiv(Add(Mul(i_, Int(8)), j_), Int(4)), i_), 2);
}

TEST_F(StrideTest, TakesIndicesOf64Bits) {
  const Var wide("wide", DType::Int(64));
  EXPECT_EQ(Step(wide, wide), 1);
  EXPECT_EQ(Step(Mul(wide, Int(6, DType::Int(64))), wide), 6);
}

TEST_F(StrideTest, AgreesWithTheValuesOfRandomExpressions) {
  const uint64_t seed = TestSeed();
  std::mt19937_64 random(seed);
  RandomExpr draw({i_, j_}, &random);
  int known = 0;
  for (int n = 0; n < 2000; ++n) {
    const Expr e = draw.Int(3);
    const auto step = Step(e, i_);
    known += step.has_value() && *step != 0;
    for (int64_t at = -6; step && at < 6; ++at) {
      const int64_t j = draw.Below(20) - 10;
      const auto here = Evaluate(e, {{i_.get(), at}, {j_.get(), j}});
      const auto next = Evaluate(e, {{i_.get(), at + 1}, {j_.get(), j}});
      if (!here || !next) continue;
      ASSERT_EQ(*next - *here, *step) << ToText(e) << ", seed " << seed;
    }
  }
  EXPECT_GT(known, 20);
}

}  // namespace
}  // namespace kiln
