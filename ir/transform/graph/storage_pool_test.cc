#include "kiln/ir/transform/graph/storage_pool.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

class StoragePoolTest : public testing::Test {
 protected:
  Analyzer analyzer_;
  StoragePool pool_{&analyzer_};
};

TEST_F(StoragePoolTest, TheSmallestThatIsLargeEnoughIsTaken) {
  const size_t large = pool_.Take(Int(400), "f");
  const size_t fit = pool_.Take(Int(200), "f");
  const size_t small = pool_.Take(Int(100), "f");
  for (const size_t storage : {large, fit, small}) pool_.GiveBack(storage);
  EXPECT_EQ(pool_.Take(Int(150), "f"), fit);
  EXPECT_EQ(pool_.Take(Int(500), "f"), large);
  EXPECT_TRUE(IsConst(pool_[large].bytes, 500));
  EXPECT_TRUE(IsConst(pool_[fit].bytes, 200));
}

TEST_F(StoragePoolTest, OfEqualOnesTheOneThatCameBackFirst) {
  const size_t a = pool_.Take(Int(8), "f");
  const size_t b = pool_.Take(Int(8), "f");
  pool_.GiveBack(b);
  pool_.GiveBack(a);
  EXPECT_EQ(pool_.Take(Int(8), "f"), b);
}

TEST_F(StoragePoolTest, OtherKindsAndFarSizesDoNotShare) {
  const size_t a = pool_.Take(Int(8), "f");
  pool_.GiveBack(a);
  EXPECT_NE(pool_.Take(Int(8), "g"), a);
  EXPECT_NE(pool_.Take(Int(8 * 18), "f"), a);
  EXPECT_EQ(pool_.Take(Int(8 * 16), "f"), a);
}

TEST_F(StoragePoolTest, SymbolicSizesShareWhereTheyAreEqual) {
  const Var n("n", DType::Index());
  const size_t a = pool_.Take(Mul(n, Int(8)), "f");
  pool_.GiveBack(a);
  EXPECT_NE(pool_.Take(Mul(n, Int(4)), "f"), a);
  EXPECT_EQ(pool_.Take(Mul(Int(4), Mul(Int(2), n)), "f"), a);
}

}  // namespace
}  // namespace kiln
