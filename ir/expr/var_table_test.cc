#include "kiln/ir/expr/var_table.h"

#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(VarTableTest, KeepsTheOrderInWhichEntriesCame) {
  const Var i("i"), j("j"), k("k");
  VarTable<int> table{{j.get(), 2}, {i.get(), 1}};
  table[k.get()] = 3;
  table[j.get()] = 4;
  std::string text;
  for (const auto& [var, value] : table) {
    text += var->name + std::to_string(value) + " ";
  }
  EXPECT_EQ(text, "j4 i1 k3 ");
}

TEST(VarTableTest, EmplaceLeavesWhatIsThere) {
  const Var i("i");
  VarTable<int> table;
  EXPECT_TRUE(table.emplace(i.get(), 1).second);
  const auto [entry, is_new] = table.emplace(i.get(), 2);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(entry->second, 1);
  EXPECT_EQ(table.size(), 1u);
}

TEST(VarTableTest, TellsVariablesOfOneNameApart) {
  const Var a("i"), b("i");
  VarTable<int> table{{a.get(), 1}};
  EXPECT_EQ(table.count(b.get()), 0u);
  EXPECT_TRUE(table.find(b.get()) == table.end());
  EXPECT_TRUE(table.find(nullptr) == table.end());
}

TEST(VarTableTest, AgreesWithAStandardMapAtAnySize) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<Var> vars;
  for (int i = 0; i < 300; ++i) vars.emplace_back("v" + std::to_string(i));
  VarTable<uint64_t> table;
  std::unordered_map<const VarNode*, uint64_t> expected;
  for (int step = 0; step < 5000; ++step) {
    // A few variables at first, then more and more of them.
    const VarNode* var = vars[random() % (1 + step % 300)].get();
    const auto found = expected.find(var);
    ASSERT_EQ(table.count(var), found == expected.end() ? 0u : 1u);
    if (found != expected.end()) {
      ASSERT_EQ(table.at(var), found->second);
    }
    if (random() % 2) table[var] = expected[var] = random();
    ASSERT_EQ(table.size(), expected.size());
  }
  const VarTable<uint64_t> copy = table;
  for (const auto& [var, value] : expected) ASSERT_EQ(copy.at(var), value);
}

TEST(ContentsTest, ExpressionsKnowWhatOccursInThem) {
  const Var i("i"), j("j");
  const Buffer buffer = MakeBuffer("A", DType::Float(32), {Int(8)});
  const Expr sum = Add(Mul(i, Int(4)), Int(1));
  EXPECT_TRUE(sum.MayUse(i->var_bits));
  EXPECT_FALSE(sum.contents().loads);
  EXPECT_EQ(Int(7)->var_bits, 0u);
  const Expr load = Load(buffer, {FloorDiv(j, Int(2))});
  EXPECT_TRUE(load.contents().loads);
  EXPECT_TRUE(load.MayUse(j->var_bits));
  const Expr both =
      Select(LT(i, Int(3)), load, Cast(DType::Float(32), Float(1)));
  EXPECT_TRUE(both.contents().loads);
  EXPECT_EQ(both->var_bits, i->var_bits | j->var_bits);
}

TEST(SharedIntTest, SmallConstantsAreOneNodeAndLargeOnesEqualByValue) {
  EXPECT_TRUE(Int(16) == Int(16));
  EXPECT_TRUE(Bool(true) == Bool(true));
  EXPECT_FALSE(Bool(true) == Bool(false));
  for (int64_t value : {-17, -16, 0, 1024, 1025}) {
    EXPECT_EQ(*AsInt(Int(value)), value);
    EXPECT_EQ(*AsInt(Int(value, DType::Int(32))), value);
  }
  EXPECT_EQ(Int(16, DType::Int(32)).dtype(), DType::Int(32));
}

}  // namespace
}  // namespace kiln
