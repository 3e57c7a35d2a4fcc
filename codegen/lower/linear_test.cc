#include "kiln/codegen/lower/linear.h"

#include <random>

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

TEST(LinearTest, ATileIndexBecomesOneSum) {
  Var i("i"), k("k");
  LinearForm f = ToLinear(Add(Mul(Add(Mul(i, Int(6)), Int(3)), Int(512)), k));
  EXPECT_EQ(f.Coefficient(i.get()), 3072);
  EXPECT_EQ(f.Coefficient(k.get()), 1);
  EXPECT_EQ(f.constant, 1536);
}

TEST(LinearTest, BoundVariablesFoldToConstants) {
  Var i("i"), j("j");
  Normalizer normalizer;
  normalizer.Bind(i.get(), Int(5));
  normalizer.Bind(j.get(), Int(2));
  EXPECT_TRUE(
      IsConst(normalizer.Run(Add(Mul(i, Int(64)), Mul(j, Int(16)))), 352));
}

TEST(LinearTest, OuterVariablesComeFirstAndTheConstantLast) {
  Var i("i"), k("k");
  Normalizer normalizer;
  normalizer.SetDepth(i.get(), 1);
  normalizer.SetDepth(k.get(), 2);
  Expr e = normalizer.Run(Add(Int(7), Add(Mul(k, Int(4)), Mul(i, Int(64)))));
  Expr expected = Add(Add(Mul(i, Int(64)), Mul(k, Int(4))), Int(7));
  EXPECT_TRUE(SameStructure(e, expected));
}

TEST(LinearTest, NormalFormsComeBackAsTheSameNode) {
  Var i("i"), k("k");
  Normalizer normalizer;
  Expr e = normalizer.Run(Add(Mul(i, Int(64)), Add(k, Int(3))));
  EXPECT_EQ(normalizer.Run(e), e);
}

TEST(LinearTest, DivisionTakesWholeTermsOut) {
  Var i("i"), k("k");
  Expr x = Add(Mul(i, Int(16)), k);
  LinearForm quotient = ToLinear(FloorDiv(x, Int(16)));
  EXPECT_EQ(quotient.Coefficient(i.get()), 1);
  Expr rest = Normalizer().Run(FloorMod(x, Int(16)));
  EXPECT_TRUE(SameStructure(rest, FloorMod(k, Int(16))));
}

TEST(LinearTest, ComparisonsOfEqualTermsAreDecided) {
  Var i("i");
  Normalizer normalizer;
  Expr yes = normalizer.Run(LT(Add(i, Int(3)), Add(i, Int(4))));
  EXPECT_TRUE(IsConst(yes, 1));
  Expr no = normalizer.Run(And(LT(i, Int(9)), EQ(Add(i, Int(1)), i)));
  EXPECT_TRUE(IsConst(no, 0));
}

TEST(LinearTest, AChoiceWithAKnownConditionIsItsBranch) {
  Var i("i");
  Normalizer normalizer;
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

TEST(LinearTest, NormalizationKeepsTheValueOfRandomExpressions) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  RandomIndex random(seed);
  for (int round = 0; round < 2000; ++round) {
    Expr e = random.Make(4);
    Expr normal = Normalizer().Run(e);
    VarMap values;
    for (int i = 0; i < 3; ++i) {
      values[random.var(i).get()] = Int(random.Pick(41) - 20);
    }
    ASSERT_EQ(*AsInt(Substitute(e, values)),
              *AsInt(Substitute(normal, values)));
  }
}

}  // namespace
}  // namespace kiln::lower
