#include "kiln/codegen/lower/auto/nest.h"

#include "gtest/gtest.h"

namespace kiln::lower {
namespace {

const DType kF32 = DType::Float(32);
const Buffer kA = MakeBuffer("A", kF32, {Int(1 << 16)});
const Buffer kB = MakeBuffer("B", kF32, {Int(1 << 16)});
const Buffer kC = MakeBuffer("C", kF32, {Int(1 << 16)});

class NestTest : public testing::Test {
 protected:
  // for i in 8: for k in 32: for j in 16: C[index] += value
  std::optional<Nest> Find(const Expr& index, const Expr& value,
                           ForKind kind = ForKind::kSerial) {
    Stmt s = MakeStore(kC, Add(Load(kC, {index}), value), {index});
    s = MakeFor(3, j_, Int(16), s, kind);
    body_ = MakeFor(1, i_, Int(8), MakeFor(2, k_, Int(32), s));
    return FindNest(body_);
  }
  Expr Row() const { return Add(Mul(i_, Int(16)), j_); }

  Var i_{"i"}, j_{"j"}, k_{"k"};
  Stmt body_;
};

TEST_F(NestTest, AMatmulHasTwoSpatialLoopsAndAReduction) {
  const auto nest = Find(Row(), Mul(Load(kA, {Add(Mul(i_, Int(32)), k_)}),
                                    Load(kB, {Add(Mul(k_, Int(16)), j_)})));
  ASSERT_TRUE(nest);
  EXPECT_TRUE(nest->is_update);
  ASSERT_EQ(nest->loops.size(), 3u);
  EXPECT_EQ(nest->loops[0].stride, 16);
  EXPECT_FALSE(nest->loops[1].is_spatial());
  EXPECT_EQ(nest->loops[2].stride, 1);
  ASSERT_EQ(nest->loads.size(), 2u);
  EXPECT_EQ(nest->loads[0].strides, (std::vector<int64_t>{32, 1, 0}));
  EXPECT_EQ(nest->loads[1].strides, (std::vector<int64_t>{0, 16, 1}));
}

TEST_F(NestTest, ElementsThatSeveralIterationsStoreMakeNone) {
  EXPECT_FALSE(Find(Add(Mul(i_, Int(15)), j_), Float(1)));
  EXPECT_TRUE(Find(Add(Mul(i_, Int(16)), j_), Float(1)));
}

TEST_F(NestTest, AnIndexThatIsNotAffineInALoopMakesNone) {
  EXPECT_FALSE(Find(FloorDiv(Row(), Int(2)), Float(1)));
}

TEST_F(NestTest, ReadingAnotherElementOfWhatIsStoredMakesNone) {
  EXPECT_FALSE(Find(Row(), Load(kC, {Add(Row(), Int(1))})));
  EXPECT_FALSE(
      Find(Row(), Load(kA, {Cast(DType::Index(), Load(kC, {Row()}))})));
}

TEST_F(NestTest, AParallelLoopInsideMakesNone) {
  EXPECT_FALSE(Find(Row(), Float(1), ForKind::kParallel));
  EXPECT_TRUE(Find(Row(), Float(1), ForKind::kVectorized));
}

TEST_F(NestTest, ALoopThatAConditionUsesIsNotPlain) {
  const Expr tap = Call(kF32, Intrinsic::kIfThenElse,
                        {LT(Int(2), i_), Load(kA, {j_}), Float(0)});
  const auto nest = Find(Row(), tap);
  ASSERT_TRUE(nest);
  EXPECT_FALSE(nest->loops[0].is_plain);
  EXPECT_TRUE(nest->loops[2].is_plain);
}

TEST_F(NestTest, AQuotientInALoadMakesItsLoopNotPlain) {
  const auto nest = Find(Row(), Load(kA, {FloorDiv(j_, Int(2))}));
  ASSERT_TRUE(nest);
  EXPECT_FALSE(nest->loops[2].is_plain);
  EXPECT_TRUE(nest->loads[0].uses[2]);
}

}  // namespace
}  // namespace kiln::lower
