#include "kiln/ir/arith/index_normalizer.h"

#include <limits>
#include <random>

#include "gtest/gtest.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

TEST(IndexNormalizerTest, ATileIndexBecomesOneSum) {
  Var i("i"), k("k");
  Linear f = ToLinear(Add(Mul(Add(Mul(i, Int(6)), Int(3)), Int(512)), k));
  EXPECT_EQ(f.Coefficient(i.get()), 3072);
  EXPECT_EQ(f.Coefficient(k.get()), 1);
  EXPECT_EQ(f.constant, 1536);
}

TEST(IndexNormalizerTest, BoundVariablesFoldToConstants) {
  Var i("i"), j("j");
  IndexNormalizer normalizer;
  normalizer.Bind(i.get(), Int(5));
  normalizer.Bind(j.get(), Int(2));
  EXPECT_TRUE(
      IsConst(normalizer.Run(Add(Mul(i, Int(64)), Mul(j, Int(16)))), 352));
}

TEST(IndexNormalizerTest, OuterVariablesComeFirstAndTheConstantLast) {
  Var i("i"), k("k");
  IndexNormalizer normalizer;
  normalizer.SetDepth(i.get(), 1);
  normalizer.SetDepth(k.get(), 2);
  Expr e = normalizer.Run(Add(Int(7), Add(Mul(k, Int(4)), Mul(i, Int(64)))));
  Expr expected = Add(Add(Mul(i, Int(64)), Mul(k, Int(4))), Int(7));
  EXPECT_TRUE(SameExpr(e, expected));
}

TEST(IndexNormalizerTest, NormalFormsComeBackAsTheSameNode) {
  Var i("i"), k("k");
  IndexNormalizer normalizer;
  Expr e = normalizer.Run(Add(Mul(i, Int(64)), Add(k, Int(3))));
  EXPECT_EQ(normalizer.Run(e), e);
}

TEST(IndexNormalizerTest, DivisionTakesWholeTermsOut) {
  Var i("i"), k("k");
  Expr x = Add(Mul(i, Int(16)), k);
  Linear quotient = ToLinear(FloorDiv(x, Int(16)));
  EXPECT_EQ(quotient.Coefficient(i.get()), 1);
  Expr rest = IndexNormalizer().Run(FloorMod(x, Int(16)));
  EXPECT_TRUE(SameExpr(rest, FloorMod(k, Int(16))));
}

TEST(IndexNormalizerTest, ASumThatOverflowsStaysAsItIs) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  Var i("i"), j("j");
  const Expr e = Mul(Add(Mul(i, Int(kHuge)), j), Int(3));
  const Linear linear = ToLinear(e);
  EXPECT_TRUE(linear.ok);
  ASSERT_EQ(linear.terms.size(), 1u);
  EXPECT_TRUE(SameExpr(linear.terms[0].atom, e));
  EXPECT_TRUE(SameExpr(IndexNormalizer().Run(e), e));
  const Expr far = LT(Add(i, Int(-kHuge * 2)), Add(i, Int(kHuge * 2)));
  EXPECT_FALSE(AsInt(IndexNormalizer().Run(far)));
}

TEST(IndexNormalizerTest, ComparisonsOfEqualTermsAreDecided) {
  Var i("i");
  IndexNormalizer normalizer;
  Expr yes = normalizer.Run(LT(Add(i, Int(3)), Add(i, Int(4))));
  EXPECT_TRUE(IsConst(yes, 1));
  Expr no = normalizer.Run(And(LT(i, Int(9)), EQ(Add(i, Int(1)), i)));
  EXPECT_TRUE(IsConst(no, 0));
}

TEST(IndexNormalizerTest, AChoiceWithAKnownConditionIsItsBranch) {
  Var i("i");
  IndexNormalizer normalizer;
  normalizer.Bind(i.get(), Int(0));
  Expr e = Call(DType::Float(32), Intrinsic::kIfThenElse,
                {LT(Int(0), i), Float(1), Float(2)});
  EXPECT_EQ(normalizer.Run(e).As<FloatImmNode>()->value, 2);
}

// Random index expressions keep their value under normalization.
class RandomIndex {
 public:
  explicit RandomIndex(uint64_t seed) : random_(seed) {}
  Expr Make(int depth) {
    if (depth == 0) {
      return Pick(2) ? Expr(vars_[Pick(3)]) : Int(Pick(21) - 10);
    }
    Expr a = Make(depth - 1);
    switch (Pick(6)) {
      case 0:
        return Add(a, Make(depth - 1));
      case 1:
        return Sub(a, Make(depth - 1));
      case 2:
        return Mul(a, Make(depth - 1));
      case 3:
        return FloorDiv(a, Int(Pick(7) + 1));
      case 4:
        return FloorMod(a, Int(Pick(7) + 1));
      default:
        return Min(a, Make(depth - 1));
    }
  }
  int64_t Pick(int64_t n) { return static_cast<int64_t>(random_() % n); }
  const Var& var(int i) const { return vars_[i]; }

 private:
  std::mt19937_64 random_;
  Var vars_[3] = {Var("a"), Var("b"), Var("c")};
};

TEST(IndexNormalizerTest, NormalizationKeepsTheValueOfRandomExpressions) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  RandomIndex random(seed);
  for (int round = 0; round < 2000; ++round) {
    Expr e = random.Make(4);
    Expr normal = IndexNormalizer().Run(e);
    VarMap values;
    for (int i = 0; i < 3; ++i) {
      values[random.var(i).get()] = Int(random.Pick(41) - 20);
    }
    ASSERT_EQ(*AsInt(Substitute(e, values)),
              *AsInt(Substitute(normal, values)));
  }
}

}  // namespace
}  // namespace kiln
